// Written by lab/math/generate.py. Coefficients and tables of math_f32.h and math_f64.h.
// clang-format off

CONCORD_MATH f64 concord_poly_exp(f64 x) {
    f64 p = 0x1.af6ea400fd05cp-26;
    p = CONCORD_FMA(p, x, 0x1.28b0f602407a6p-22);
    p = CONCORD_FMA(p, x, 0x1.71ddee5f22b42p-19);
    p = CONCORD_FMA(p, x, 0x1.a01995bb3bea8p-16);
    p = CONCORD_FMA(p, x, 0x1.a01a01b44bb2bp-13);
    p = CONCORD_FMA(p, x, 0x1.6c16c18606fabp-10);
    p = CONCORD_FMA(p, x, 0x1.111111110e9eep-7);
    p = CONCORD_FMA(p, x, 0x1.555555554fe06p-5);
    p = CONCORD_FMA(p, x, 0x1.555555555555cp-3);
    p = CONCORD_FMA(p, x, 0x1.000000000000cp-1);
    return p;
}

CONCORD_MATH f64 concord_poly_exp2(f64 x) {
    f64 p = 0x1.eafe8868eac99p-32;
    p = CONCORD_FMA(p, x, 0x1.e61dcc21b6ec9p-28);
    p = CONCORD_FMA(p, x, 0x1.b524224fbe196p-24);
    p = CONCORD_FMA(p, x, 0x1.62bfc60f5590bp-20);
    p = CONCORD_FMA(p, x, 0x1.ffcbfcdbb0815p-17);
    p = CONCORD_FMA(p, x, 0x1.4309130f862b6p-13);
    p = CONCORD_FMA(p, x, 0x1.5d87fe7888b62p-10);
    p = CONCORD_FMA(p, x, 0x1.3b2ab6fb9fd4fp-7);
    p = CONCORD_FMA(p, x, 0x1.c6b08d704a183p-5);
    p = CONCORD_FMA(p, x, 0x1.ebfbdff82c5a6p-3);
    p = CONCORD_FMA(p, x, 0x1.62e42fefa39efp-1);
    return p;
}

CONCORD_MATH f64 concord_poly_log(f64 x) {
    f64 p = 0x1.2f0d5e2c92795p-3;
    p = CONCORD_FMA(p, x, 0x1.39a0ddfa994c2p-3);
    p = CONCORD_FMA(p, x, 0x1.7466486178ecdp-3);
    p = CONCORD_FMA(p, x, 0x1.c71c51d50fa2ap-3);
    p = CONCORD_FMA(p, x, 0x1.249249423c734p-2);
    p = CONCORD_FMA(p, x, 0x1.999999997f72dp-2);
    p = CONCORD_FMA(p, x, 0x1.5555555555594p-1);
    return p;
}

CONCORD_MATH f64 concord_poly_log2(f64 x) {
    f64 p = 0x1.0839b2bb9b5c7p-3;
    p = CONCORD_FMA(p, x, 0x1.6551295c34beap-3);
    p = CONCORD_FMA(p, x, 0x1.8953e6d86d8e5p-3);
    p = CONCORD_FMA(p, x, 0x1.c69499fe76a0bp-3);
    p = CONCORD_FMA(p, x, 0x1.0c9a77d238743p-2);
    p = CONCORD_FMA(p, x, 0x1.484b13fc3e178p-2);
    p = CONCORD_FMA(p, x, 0x1.a61762a772e7ep-2);
    p = CONCORD_FMA(p, x, 0x1.2776c50ef9d80p-1);
    p = CONCORD_FMA(p, x, 0x1.ec709dc3a03fdp-1);
    return p;
}

CONCORD_MATH f64 concord_poly_sin(f64 x) {
    f64 p = -0x1.705d6cb4b9631p-31;
    p = CONCORD_FMA(p, x, 0x1.e8fd6c29efb9cp-25);
    p = CONCORD_FMA(p, x, -0x1.e30760637ec02p-19);
    p = CONCORD_FMA(p, x, 0x1.5078349506f23p-13);
    p = CONCORD_FMA(p, x, -0x1.32d2cce63630cp-8);
    p = CONCORD_FMA(p, x, 0x1.466bc6775ab5dp-4);
    p = CONCORD_FMA(p, x, -0x1.4abbce625be53p-1);
    return p;
}

CONCORD_MATH f64 concord_poly_cos(f64 x) {
    f64 p = -0x1.4b04bba77000bp-33;
    p = CONCORD_FMA(p, x, -0x1.a7762d7e73600p-28);
    p = CONCORD_FMA(p, x, 0x1.f9b95199c585fp-22);
    p = CONCORD_FMA(p, x, -0x1.a6d1db360b9d4p-16);
    p = CONCORD_FMA(p, x, 0x1.e1f50671ac040p-11);
    p = CONCORD_FMA(p, x, -0x1.55d3c7e3bf193p-6);
    p = CONCORD_FMA(p, x, 0x1.03c1f081b5a53p-2);
    p = CONCORD_FMA(p, x, -0x1.3bd3cc9be45dep+0);
    return p;
}

CONCORD_MATH f64 concord_poly_sin_half(f64 x) {
    f64 p = -0x1.e7364a72e405fp-26;
    p = CONCORD_FMA(p, x, 0x1.ae9731ded38e1p-21);
    p = CONCORD_FMA(p, x, -0x1.6fbc991d13f6ap-16);
    p = CONCORD_FMA(p, x, 0x1.e8f475c3899f3p-12);
    p = CONCORD_FMA(p, x, -0x1.e30750851ff87p-8);
    p = CONCORD_FMA(p, x, 0x1.50783488ecb2ap-4);
    p = CONCORD_FMA(p, x, -0x1.32d2cce62d93ap-1);
    p = CONCORD_FMA(p, x, 0x1.466bc6775ab13p+1);
    p = CONCORD_FMA(p, x, -0x1.4abbce625be53p+2);
    return p;
}

CONCORD_MATH f64 concord_poly_atan(f64 x) {
    f64 p = -0x1.24f5be7dff754p-6;
    p = CONCORD_FMA(p, x, 0x1.379d633b41bdcp-5);
    p = CONCORD_FMA(p, x, -0x1.9cbb391a02d56p-5);
    p = CONCORD_FMA(p, x, 0x1.df09b7a3e46e2p-5);
    p = CONCORD_FMA(p, x, -0x1.10eb4ea9a167bp-4);
    p = CONCORD_FMA(p, x, 0x1.3b110f02f05b2p-4);
    p = CONCORD_FMA(p, x, -0x1.745cf83c70f44p-4);
    p = CONCORD_FMA(p, x, 0x1.c71c70dfd428bp-4);
    p = CONCORD_FMA(p, x, -0x1.249249229b088p-3);
    p = CONCORD_FMA(p, x, 0x1.99999999954ecp-3);
    p = CONCORD_FMA(p, x, -0x1.555555555553bp-2);
    return p;
}

CONCORD_MATH f64 concord_poly_asin(f64 x) {
    f64 p = 0x1.0af379e651188p-5;
    p = CONCORD_FMA(p, x, -0x1.56eedd53cbf7dp-6);
    p = CONCORD_FMA(p, x, 0x1.62daa950786bap-6);
    p = CONCORD_FMA(p, x, 0x1.e878ce55107adp-9);
    p = CONCORD_FMA(p, x, 0x1.6111c74a88316p-7);
    p = CONCORD_FMA(p, x, 0x1.758d268ee4417p-7);
    p = CONCORD_FMA(p, x, 0x1.ca1ea227054eep-7);
    p = CONCORD_FMA(p, x, 0x1.1c49f9e9a13dep-6);
    p = CONCORD_FMA(p, x, 0x1.6e8bde5eef66dp-6);
    p = CONCORD_FMA(p, x, 0x1.f1c71a992177dp-6);
    p = CONCORD_FMA(p, x, 0x1.6db6db7209136p-5);
    p = CONCORD_FMA(p, x, 0x1.333333332e1b5p-4);
    p = CONCORD_FMA(p, x, 0x1.5555555555577p-3);
    return p;
}

CONCORD_MATH f64 concord_poly_sinh(f64 x) {
    f64 p = 0x1.af5f37267188dp-26;
    p = CONCORD_FMA(p, x, 0x1.71ddf808b6ae0p-19);
    p = CONCORD_FMA(p, x, 0x1.a01a01b00610cp-13);
    p = CONCORD_FMA(p, x, 0x1.111111110f650p-7);
    p = CONCORD_FMA(p, x, 0x1.5555555555559p-3);
    return p;
}

CONCORD_MATH f64 concord_poly_cosh(f64 x) {
    f64 p = 0x1.28b0f602407a6p-22;
    p = CONCORD_FMA(p, x, 0x1.a01995bb3bea8p-16);
    p = CONCORD_FMA(p, x, 0x1.6c16c18606fabp-10);
    p = CONCORD_FMA(p, x, 0x1.555555554fe06p-5);
    p = CONCORD_FMA(p, x, 0x1.000000000000cp-1);
    return p;
}

CONCORD_MATH f64 concord_poly_erf(f64 x) {
    f64 p = -0x1.3f39b66a8c174p-47;
    p = CONCORD_FMA(p, x, 0x1.98e014eea1613p-42);
    p = CONCORD_FMA(p, x, -0x1.e9028af69202ap-38);
    p = CONCORD_FMA(p, x, 0x1.6a09a2a8a4483p-34);
    p = CONCORD_FMA(p, x, -0x1.725b06aaaf7c0p-31);
    p = CONCORD_FMA(p, x, 0x1.13c5655f36b5ap-28);
    p = CONCORD_FMA(p, x, -0x1.30d84dbe4d4f2p-26);
    p = CONCORD_FMA(p, x, 0x1.ed4a4323dded0p-25);
    p = CONCORD_FMA(p, x, -0x1.0bbfb46177bafp-23);
    p = CONCORD_FMA(p, x, 0x1.d47552597f244p-24);
    p = CONCORD_FMA(p, x, 0x1.90f7e99b5d0aap-22);
    p = CONCORD_FMA(p, x, -0x1.ddfcd08526f55p-20);
    p = CONCORD_FMA(p, x, 0x1.80ef287985550p-19);
    p = CONCORD_FMA(p, x, 0x1.c662a00881c9fp-19);
    p = CONCORD_FMA(p, x, -0x1.f27eea16806c8p-16);
    p = CONCORD_FMA(p, x, 0x1.0e7aa8f80f0dfp-14);
    p = CONCORD_FMA(p, x, 0x1.b231e92c51cc5p-16);
    p = CONCORD_FMA(p, x, -0x1.35655b357acf2p-11);
    p = CONCORD_FMA(p, x, 0x1.bca67cd7492acp-10);
    p = CONCORD_FMA(p, x, -0x1.b6b68cfd97d83p-13);
    p = CONCORD_FMA(p, x, -0x1.39668593a7002p-6);
    p = CONCORD_FMA(p, x, 0x1.a4f4e2a1b1583p-4);
    p = CONCORD_FMA(p, x, 0x1.45f306dc9c8a1p-1);
    p = CONCORD_FMA(p, x, 0x1.20dd750429b6dp+0);
    return p;
}

CONCORD_MATH f64 concord_poly_erfc(f64 x) {
    f64 p = -0x1.3063e5aa55880p-31;
    p = CONCORD_FMA(p, x, 0x1.2526f2efde7afp-29);
    p = CONCORD_FMA(p, x, -0x1.931808ca6a4f4p-32);
    p = CONCORD_FMA(p, x, -0x1.5ed3733c2f30fp-27);
    p = CONCORD_FMA(p, x, 0x1.d4d0786ef9c07p-27);
    p = CONCORD_FMA(p, x, 0x1.c8443013af564p-26);
    p = CONCORD_FMA(p, x, -0x1.7f8e24095c995p-24);
    p = CONCORD_FMA(p, x, -0x1.ca6247ef90099p-35);
    p = CONCORD_FMA(p, x, 0x1.a52e5b3d59e7bp-22);
    p = CONCORD_FMA(p, x, -0x1.f58d75d432a09p-22);
    p = CONCORD_FMA(p, x, -0x1.6a9560f2885e0p-20);
    p = CONCORD_FMA(p, x, 0x1.e9c5f7ba51babp-19);
    p = CONCORD_FMA(p, x, 0x1.0627b412db23dp-18);
    p = CONCORD_FMA(p, x, -0x1.79d70456617d0p-16);
    p = CONCORD_FMA(p, x, -0x1.874c072fcd10cp-17);
    p = CONCORD_FMA(p, x, 0x1.26bb2ae02e903p-13);
    p = CONCORD_FMA(p, x, 0x1.706f41d38f4dep-14);
    p = CONCORD_FMA(p, x, -0x1.f94949fbe57d9p-11);
    p = CONCORD_FMA(p, x, -0x1.b80988a268ab5p-10);
    p = CONCORD_FMA(p, x, 0x1.73bd920e67696p-8);
    p = CONCORD_FMA(p, x, 0x1.1893efb4b31acp-5);
    p = CONCORD_FMA(p, x, 0x1.73d8b093d3ffep-4);
    p = CONCORD_FMA(p, x, 0x1.4995dc9ccfb12p-3);
    p = CONCORD_FMA(p, x, 0x1.afbb3f3b7343bp-3);
    return p;
}

CONCORD_MATH f64 concord_poly_cbrt(f64 x) {
    f64 p = -0x1.103ba49cebd4dp-6;
    p = CONCORD_FMA(p, x, 0x1.396aaa305fb09p-3);
    p = CONCORD_FMA(p, x, -0x1.2d7e6742e2472p-1);
    p = CONCORD_FMA(p, x, 0x1.3b07abbf9bab4p+0);
    p = CONCORD_FMA(p, x, -0x1.8e779141c19d6p+0);
    p = CONCORD_FMA(p, x, 0x1.c74242f935d30p+0);
    return p;
}

CONCORD_MATH f64 concord_poly_lgamma(f64 x) {
    f64 p = -0x1.096950ae15eb6p-17;
    p = CONCORD_FMA(p, x, 0x1.79434b9396273p-17);
    p = CONCORD_FMA(p, x, -0x1.11eb0b9e2ee86p-17);
    p = CONCORD_FMA(p, x, 0x1.e1f59fa71cf80p-17);
    p = CONCORD_FMA(p, x, -0x1.ca21479714655p-16);
    p = CONCORD_FMA(p, x, 0x1.63621bb5d52ccp-15);
    p = CONCORD_FMA(p, x, -0x1.15486af62c867p-14);
    p = CONCORD_FMA(p, x, 0x1.bac459e1147e1p-14);
    p = CONCORD_FMA(p, x, -0x1.62423c7746779p-13);
    p = CONCORD_FMA(p, x, 0x1.1c7367657bcfbp-12);
    p = CONCORD_FMA(p, x, -0x1.cb44b04de6e70p-12);
    p = CONCORD_FMA(p, x, 0x1.750b21f9be1b1p-11);
    p = CONCORD_FMA(p, x, -0x1.313e8b0ecfab2p-10);
    p = CONCORD_FMA(p, x, 0x1.f814b43f01339p-10);
    p = CONCORD_FMA(p, x, -0x1.a503522e7ac85p-9);
    p = CONCORD_FMA(p, x, 0x1.64f0665f50076p-8);
    p = CONCORD_FMA(p, x, -0x1.34dbda149c4ccp-7);
    p = CONCORD_FMA(p, x, 0x1.1334235260640p-6);
    p = CONCORD_FMA(p, x, -0x1.007aa83cee190p-5);
    p = CONCORD_FMA(p, x, 0x1.01af62a292b2dp-4);
    p = CONCORD_FMA(p, x, -0x1.2aed059bd608ap-3);
    p = CONCORD_FMA(p, x, 0x1.eeb95b094c191p-2);
    return p;
}

CONCORD_MATH f64 concord_poly_stirling(f64 x) {
    f64 p = 0x1.53e24f95c3e1bp-10;
    p = CONCORD_FMA(p, x, 0x1.41c9e20eef93bp-8);
    p = CONCORD_FMA(p, x, -0x1.ee057b68e3476p-10);
    p = CONCORD_FMA(p, x, 0x1.b91eafc1492fbp-11);
    p = CONCORD_FMA(p, x, -0x1.38132efd60fe8p-11);
    p = CONCORD_FMA(p, x, 0x1.a01a015bdfb5ep-11);
    p = CONCORD_FMA(p, x, -0x1.6c16c16c107e3p-9);
    p = CONCORD_FMA(p, x, 0x1.5555555555555p-4);
    return p;
}

CONCORD_MATH f64 concord_poly_rgamma(f64 x) {
    f64 p = -0x1.3adce174de0ebp-28;
    p = CONCORD_FMA(p, x, 0x1.20a3089e6ce3dp-26);
    p = CONCORD_FMA(p, x, -0x1.6df289b3c3610p-24);
    p = CONCORD_FMA(p, x, 0x1.f2ed56fba03f9p-25);
    p = CONCORD_FMA(p, x, 0x1.212b2a4b1e5c0p-19);
    p = CONCORD_FMA(p, x, -0x1.d24cf35c5f5c7p-17);
    p = CONCORD_FMA(p, x, 0x1.a965818c9d61fp-16);
    p = CONCORD_FMA(p, x, 0x1.3f8460a32c360p-13);
    p = CONCORD_FMA(p, x, -0x1.232bd963f6f29p-10);
    p = CONCORD_FMA(p, x, 0x1.15f7f06014cd4p-9);
    p = CONCORD_FMA(p, x, 0x1.b16203ea4f190p-8);
    p = CONCORD_FMA(p, x, -0x1.5955cc39719c6p-5);
    p = CONCORD_FMA(p, x, 0x1.a18540be2d230p-5);
    p = CONCORD_FMA(p, x, 0x1.669be41a93885p-3);
    p = CONCORD_FMA(p, x, -0x1.0da5a671c0470p-1);
    p = CONCORD_FMA(p, x, -0x1.514d3d90584b3p-5);
    p = CONCORD_FMA(p, x, 0x1.20dd750429b6dp+0);
    return p;
}

CONCORD_MATH f64 concord_poly_exp_f64(f64 x) {
    f64 p = 0x1.1f83e1c58be04p-29;
    p = CONCORD_FMA(p, x, 0x1.af5f37267188dp-26);
    p = CONCORD_FMA(p, x, 0x1.27e4d14428d45p-22);
    p = CONCORD_FMA(p, x, 0x1.71ddf808b6ae0p-19);
    p = CONCORD_FMA(p, x, 0x1.a01a01ab13cadp-16);
    p = CONCORD_FMA(p, x, 0x1.a01a01b00610cp-13);
    p = CONCORD_FMA(p, x, 0x1.6c16c16c1577dp-10);
    p = CONCORD_FMA(p, x, 0x1.111111110f650p-7);
    p = CONCORD_FMA(p, x, 0x1.5555555555557p-5);
    p = CONCORD_FMA(p, x, 0x1.5555555555559p-3);
    p = CONCORD_FMA(p, x, 0x1.0000000000000p-1);
    return p;
}

CONCORD_MATH f64 concord_poly_log_tail(f64 x) {
    f64 p = 0x1.c848c01f8da8ap-4;
    p = CONCORD_FMA(p, x, -0x1.0006ec8b1bab3p-3);
    p = CONCORD_FMA(p, x, 0x1.24924437c0a92p-3);
    p = CONCORD_FMA(p, x, -0x1.55555542a6fadp-3);
    p = CONCORD_FMA(p, x, 0x1.99999999a6befp-3);
    p = CONCORD_FMA(p, x, -0x1.000000000007ap-2);
    p = CONCORD_FMA(p, x, 0x1.5555555555555p-2);
    return p;
}

CONCORD_MATH f64 concord_poly_sin_f64(f64 x) {
    f64 p = -0x1.a53a1af27481fp-41;
    p = CONCORD_FMA(p, x, 0x1.61145d8930541p-33);
    p = CONCORD_FMA(p, x, -0x1.ae643ccfed9a0p-26);
    p = CONCORD_FMA(p, x, 0x1.71de3a3fc19bcp-19);
    p = CONCORD_FMA(p, x, -0x1.a01a01a0069a9p-13);
    p = CONCORD_FMA(p, x, 0x1.111111111108ap-7);
    p = CONCORD_FMA(p, x, -0x1.5555555555555p-3);
    return p;
}

CONCORD_MATH f64 concord_poly_cos_f64(f64 x) {
    f64 p = -0x1.8fa8985847226p-37;
    p = CONCORD_FMA(p, x, 0x1.1ee9dfb7cf91ep-29);
    p = CONCORD_FMA(p, x, -0x1.27e4f7f6ea6fcp-22);
    p = CONCORD_FMA(p, x, 0x1.a01a019c95689p-16);
    p = CONCORD_FMA(p, x, -0x1.6c16c16c1503fp-10);
    p = CONCORD_FMA(p, x, 0x1.555555555554bp-5);
    return p;
}

CONCORD_MATH f64 concord_poly_cosh_f64(f64 x) {
    f64 p = 0x1.1f8bb5e5ff35ap-29;
    p = CONCORD_FMA(p, x, 0x1.27e4cc2648232p-22);
    p = CONCORD_FMA(p, x, 0x1.a01a01ad776cfp-16);
    p = CONCORD_FMA(p, x, 0x1.6c16c16c1500ap-10);
    p = CONCORD_FMA(p, x, 0x1.5555555555558p-5);
    p = CONCORD_FMA(p, x, 0x1.0000000000000p-1);
    return p;
}

CONCORD_MATH f64 concord_poly_erf_f64(f64 x) {
    f64 p = -0x1.2a16f48e1bf68p-60;
    p = CONCORD_FMA(p, x, 0x1.0e9ef77a9a3e1p-54);
    p = CONCORD_FMA(p, x, -0x1.ca3c7a14abc8bp-50);
    p = CONCORD_FMA(p, x, 0x1.deeed3cfb2afbp-46);
    p = CONCORD_FMA(p, x, -0x1.57e8b9a6cab40p-42);
    p = CONCORD_FMA(p, x, 0x1.63bf11cfb98d2p-39);
    p = CONCORD_FMA(p, x, -0x1.0b55d9a2267c2p-36);
    p = CONCORD_FMA(p, x, 0x1.167c956a54cb1p-34);
    p = CONCORD_FMA(p, x, -0x1.35b88cf875e8ep-33);
    p = CONCORD_FMA(p, x, -0x1.269c530da13d4p-32);
    p = CONCORD_FMA(p, x, 0x1.24c2aa1478945p-28);
    p = CONCORD_FMA(p, x, -0x1.843261e2db026p-26);
    p = CONCORD_FMA(p, x, 0x1.4c456ef730753p-24);
    p = CONCORD_FMA(p, x, -0x1.7dba7848d24a7p-23);
    p = CONCORD_FMA(p, x, 0x1.cb3d8e7e2667cp-23);
    p = CONCORD_FMA(p, x, 0x1.ca0ce1cadb62cp-23);
    p = CONCORD_FMA(p, x, -0x1.aa4b8a4774478p-20);
    p = CONCORD_FMA(p, x, 0x1.685f061c69358p-19);
    p = CONCORD_FMA(p, x, 0x1.d8c82e990344fp-19);
    p = CONCORD_FMA(p, x, -0x1.f3d781edf2457p-16);
    p = CONCORD_FMA(p, x, 0x1.0ea18975d3760p-14);
    p = CONCORD_FMA(p, x, 0x1.b1fcdc66e1b33p-16);
    p = CONCORD_FMA(p, x, -0x1.3564f0b5b8c83p-11);
    p = CONCORD_FMA(p, x, 0x1.bca673605e6ecp-10);
    p = CONCORD_FMA(p, x, -0x1.b6b683f4d98dap-13);
    p = CONCORD_FMA(p, x, -0x1.39668594fd293p-6);
    p = CONCORD_FMA(p, x, 0x1.a4f4e2a1b4ccbp-4);
    p = CONCORD_FMA(p, x, 0x1.45f306dc9c882p-1);
    return p;
}

CONCORD_MATH f64 concord_poly_erfc_f64_high(f64 x) {
    f64 p = -0x1.8d85ce7262639p-37;
    p = CONCORD_FMA(p, x, 0x1.4c5570a420733p-36);
    p = CONCORD_FMA(p, x, 0x1.dcbacd16093d4p-34);
    p = CONCORD_FMA(p, x, -0x1.229bd99565dbap-32);
    p = CONCORD_FMA(p, x, -0x1.bec5dceafa471p-32);
    p = CONCORD_FMA(p, x, 0x1.f513d9f4b3adfp-30);
    p = CONCORD_FMA(p, x, 0x1.129947f4af09bp-32);
    p = CONCORD_FMA(p, x, -0x1.3a2ad635ce1d4p-27);
    p = CONCORD_FMA(p, x, 0x1.f0d9f15be958fp-28);
    p = CONCORD_FMA(p, x, 0x1.54403ab35a16ep-25);
    p = CONCORD_FMA(p, x, -0x1.22a430db8b58ep-24);
    p = CONCORD_FMA(p, x, -0x1.666d18b7ba38dp-23);
    p = CONCORD_FMA(p, x, 0x1.eeb724b08955fp-22);
    p = CONCORD_FMA(p, x, 0x1.a90b47298ba94p-21);
    p = CONCORD_FMA(p, x, -0x1.86cd94138397fp-19);
    p = CONCORD_FMA(p, x, -0x1.54002a34320c0p-18);
    p = CONCORD_FMA(p, x, 0x1.2cc3772dbff7ap-16);
    p = CONCORD_FMA(p, x, 0x1.82f6aa58394d4p-15);
    p = CONCORD_FMA(p, x, -0x1.7f4bd70a243b6p-14);
    return p;
}

CONCORD_MATH concord_pair concord_poly_erfc_f64(f64 x, f64 low) {
    concord_pair p = concord_pair_of(concord_poly_erfc_f64_high(x), 0.0);
    p = concord_pair_step(p, x, low, -0x1.091ed173472a5p-11, -0x1.b60e1f96744f6p-65);
    p = concord_pair_step(p, x, low, -0x1.a7c53414f895fp-13, -0x1.c230693256648p-68);
    p = concord_pair_step(p, x, low, 0x1.2506628f285cbp-8, -0x1.d8583169af232p-62);
    p = concord_pair_step(p, x, low, 0x1.4663f6120f410p-6, 0x1.f04bace208650p-60);
    p = concord_pair_step(p, x, low, 0x1.a7e42c5727b42p-5, 0x1.88ba2553dd0dep-62);
    p = concord_pair_step(p, x, low, 0x1.92ede1b27d8f5p-4, 0x1.c7abd9e24a8cbp-58);
    p = concord_pair_step(p, x, low, 0x1.2d882f67c6cfap-3, -0x1.cfcc607662833p-57);
    p = concord_pair_step(p, x, low, 0x1.6e9827d229d2dp-3, -0x1.90ab14eb89c4fp-58);
    return p;
}

CONCORD_MATH f64 concord_poly_lgamma_f64_high(f64 x) {
    f64 p = -0x1.d01524ec255fap-19;
    p = CONCORD_FMA(p, x, 0x1.6023109ac8d7ap-18);
    p = CONCORD_FMA(p, x, -0x1.93812ddebf973p-19);
    p = CONCORD_FMA(p, x, 0x1.4b1caf96285c4p-18);
    p = CONCORD_FMA(p, x, -0x1.771508b98fc2bp-17);
    p = CONCORD_FMA(p, x, 0x1.24e8e23b83915p-16);
    p = CONCORD_FMA(p, x, -0x1.b8787251303a2p-16);
    p = CONCORD_FMA(p, x, 0x1.5cef37b7562a0p-15);
    p = CONCORD_FMA(p, x, -0x1.163eda3b8cb5dp-14);
    p = CONCORD_FMA(p, x, 0x1.bb23dfd3a898bp-14);
    p = CONCORD_FMA(p, x, -0x1.6230db2b45666p-13);
    p = CONCORD_FMA(p, x, 0x1.1c738d745aaecp-12);
    p = CONCORD_FMA(p, x, -0x1.cb457b85af8afp-12);
    p = CONCORD_FMA(p, x, 0x1.750aee2c29df1p-11);
    p = CONCORD_FMA(p, x, -0x1.313e882307321p-10);
    p = CONCORD_FMA(p, x, 0x1.f814b79321d10p-10);
    p = CONCORD_FMA(p, x, -0x1.a503523b211d1p-9);
    p = CONCORD_FMA(p, x, 0x1.64f066528e09dp-8);
    return p;
}

CONCORD_MATH concord_pair concord_poly_lgamma_f64(f64 x, f64 low) {
    concord_pair p = concord_pair_of(concord_poly_lgamma_f64_high(x), 0.0);
    p = concord_pair_step(p, x, low, -0x1.34dbda148e4f9p-7, -0x1.f10c8216f3740p-62);
    p = concord_pair_step(p, x, low, 0x1.1334235278bd0p-6, 0x1.bb78a176bb130p-61);
    p = concord_pair_step(p, x, low, -0x1.007aa83cee1e7p-5, 0x1.7b49cd38de238p-59);
    p = concord_pair_step(p, x, low, 0x1.01af62a2929e9p-4, -0x1.7bbe52d041ffcp-62);
    p = concord_pair_step(p, x, low, -0x1.2aed059bd608ap-3, -0x1.806e2bcaf8743p-61);
    p = concord_pair_step(p, x, low, 0x1.eeb95b094c191p-2, 0x1.341ddac19e36ap-56);
    return p;
}

CONCORD_MATH f64 concord_poly_sinpi_f64_high(f64 x) {
    f64 p = 0x1.209ce074d608cp-31;
    p = CONCORD_FMA(p, x, -0x1.8a1b1b86368bfp-26);
    p = CONCORD_FMA(p, x, 0x1.aaebcf246374ep-21);
    p = CONCORD_FMA(p, x, -0x1.6fadb94b93172p-16);
    p = CONCORD_FMA(p, x, 0x1.e8f434ceb6128p-12);
    p = CONCORD_FMA(p, x, -0x1.e3074fde868a4p-8);
    return p;
}

CONCORD_MATH concord_pair concord_poly_sinpi_f64(f64 x, f64 low) {
    concord_pair p = concord_pair_of(concord_poly_sinpi_f64_high(x), 0.0);
    p = concord_pair_step(p, x, low, 0x1.50783487ee768p-4, -0x1.9d4db5c239462p-58);
    p = concord_pair_step(p, x, low, -0x1.32d2cce62bd86p-1, 0x1.6eeac932d26cap-55);
    p = concord_pair_step(p, x, low, 0x1.466bc6775aae2p+1, -0x1.6e973312af2d1p-54);
    p = concord_pair_step(p, x, low, -0x1.4abbce625be53p+2, 0x1.0551722ec72e8p-52);
    p = concord_pair_step(p, x, low, 0x1.921fb54442d18p+1, 0x1.1a626303e4f86p-53);
    return p;
}

CONCORD_MATH f64 concord_poly_stirling_f64(f64 x) {
    f64 p = 0x1.c3d1a59b0e7a6p-4;
    p = CONCORD_FMA(p, x, -0x1.c6da3ccbe0960p-6);
    p = CONCORD_FMA(p, x, 0x1.a25f261393e01p-8);
    p = CONCORD_FMA(p, x, -0x1.f69b767ab6a76p-10);
    p = CONCORD_FMA(p, x, 0x1.b951b92948323p-11);
    p = CONCORD_FMA(p, x, -0x1.381381191ee12p-11);
    p = CONCORD_FMA(p, x, 0x1.a01a01a00eb54p-11);
    p = CONCORD_FMA(p, x, -0x1.6c16c16c16c11p-9);
    return p;
}

// Rows of (2^e 2/pi) modulo 4 in three parts, e = -26, -25, ...
CONCORD_TABLE(f64, concord_table_trig, 393) = {
    0x1.45f306e000000p-27, -0x1.b1bbeac000000p-58, -0x1.603d8a82e0acbp-86,
    0x1.45f306e000000p-26, -0x1.b1bbeac000000p-57, -0x1.603d8a82e0acbp-85,
    0x1.45f306e000000p-25, -0x1.b1bbeac000000p-56, -0x1.603d8a82e0acbp-84,
    0x1.45f306e000000p-24, -0x1.b1bbeac000000p-55, -0x1.603d8a82e0acbp-83,
    0x1.45f306e000000p-23, -0x1.b1bbeac000000p-54, -0x1.603d8a82e0acbp-82,
    0x1.45f306e000000p-22, -0x1.b1bbeac000000p-53, -0x1.603d8a82e0acbp-81,
    0x1.45f306e000000p-21, -0x1.b1bbeac000000p-52, -0x1.603d8a82e0acbp-80,
    0x1.45f306e000000p-20, -0x1.b1bbeac000000p-51, -0x1.603d8a82e0acbp-79,
    0x1.45f306e000000p-19, -0x1.b1bbeac000000p-50, -0x1.603d8a82e0acbp-78,
    0x1.45f306e000000p-18, -0x1.b1bbeac000000p-49, -0x1.603d8a82e0acbp-77,
    0x1.45f306e000000p-17, -0x1.b1bbeac000000p-48, -0x1.603d8a82e0acbp-76,
    0x1.45f306e000000p-16, -0x1.b1bbeac000000p-47, -0x1.603d8a82e0acbp-75,
    0x1.45f306e000000p-15, -0x1.b1bbeac000000p-46, -0x1.603d8a82e0acbp-74,
    0x1.45f306e000000p-14, -0x1.b1bbeac000000p-45, -0x1.603d8a82e0acbp-73,
    0x1.45f306e000000p-13, -0x1.b1bbeac000000p-44, -0x1.603d8a82e0acbp-72,
    0x1.45f306e000000p-12, -0x1.b1bbeac000000p-43, -0x1.603d8a82e0acbp-71,
    0x1.45f306e000000p-11, -0x1.b1bbeac000000p-42, -0x1.603d8a82e0acbp-70,
    0x1.45f306e000000p-10, -0x1.b1bbeac000000p-41, -0x1.603d8a82e0acbp-69,
    0x1.45f306e000000p-9, -0x1.b1bbeac000000p-40, -0x1.603d8a82e0acbp-68,
    0x1.45f306e000000p-8, -0x1.b1bbeac000000p-39, -0x1.603d8a82e0acbp-67,
    0x1.45f306e000000p-7, -0x1.b1bbeac000000p-38, -0x1.603d8a82e0acbp-66,
    0x1.45f306e000000p-6, -0x1.b1bbeac000000p-37, -0x1.603d8a82e0acbp-65,
    0x1.45f306e000000p-5, -0x1.b1bbeac000000p-36, -0x1.603d8a82e0acbp-64,
    0x1.45f306e000000p-4, -0x1.b1bbeac000000p-35, -0x1.603d8a82e0acbp-63,
    0x1.45f306e000000p-3, -0x1.b1bbeac000000p-34, -0x1.603d8a82e0acbp-62,
    0x1.45f306e000000p-2, -0x1.b1bbeac000000p-33, -0x1.603d8a82e0acbp-61,
    0x1.45f3070000000p-1, -0x1.1b1bbe8000000p-28, -0x1.6b01ec5417056p-55,
    0x1.45f306c000000p+0, 0x1.c9c8828000000p-28, 0x1.29fc2757d1f53p-55,
    -0x1.7419f24000000p+0, -0x1.b1bbea0000000p-30, -0x1.ac07b1505c159p-55,
    0x1.17cc1b8000000p+0, -0x1.b1bbeb0000000p-29, 0x1.4fe13abe8fa9ap-56,
    -0x1.d067c90000000p+0, -0x1.b1bbeb0000000p-28, 0x1.4fe13abe8fa9ap-55,
    0x1.7cc1b70000000p-2, 0x1.3910550000000p-29, -0x1.603d8a82e0acbp-55,
    0x1.7cc1b70000000p-1, 0x1.3910548000000p-28, 0x1.3f84eafa3ea6ap-55,
    0x1.7cc1b74000000p+0, -0x1.8ddf568000000p-28, -0x1.80f62a0b82b2dp-55,
    -0x1.067c91c000000p+0, 0x1.c882a50000000p-29, 0x1.fc2757d1f534ep-56,
    0x1.f306dc8000000p+0, 0x1.c882a50000000p-28, 0x1.fc2757d1f534ep-55,
    -0x1.9f246c0000000p-4, -0x1.bbead60000000p-30, -0x1.ec54170565912p-61,
    -0x1.9f246c0000000p-3, -0x1.bbead60000000p-29, -0x1.ec54170565912p-60,
    -0x1.9f246c0000000p-2, -0x1.bbead60000000p-28, -0x1.ec54170565912p-59,
    -0x1.9f246c8000000p-1, 0x1.1054a80000000p-29, -0x1.ec54170565912p-58,
    -0x1.9f246c8000000p+0, 0x1.1054a80000000p-28, -0x1.ec54170565912p-57,
    0x1.836e4e8000000p-1, -0x1.df56b00000000p-28, -0x1.ec54170565912p-56,
    0x1.836e4e4000000p+0, 0x1.054a800000000p-30, -0x1.ec54170565912p-55,
    -0x1.f246c70000000p-1, 0x1.054a7f0000000p-29, 0x1.3abe8fa9a6ee0p-58,
    -0x1.f246c70000000p+0, 0x1.054a7f0000000p-28, 0x1.3abe8fa9a6ee0p-57,
    0x1.b727240000000p-4, -0x1.f56b020000000p-28, 0x1.3abe8fa9a6ee0p-56,
    0x1.b727220000000p-3, 0x1.529fc00000000p-32, 0x1.3abe8fa9a6ee0p-55,
    0x1.b727220000000p-2, 0x1.529fc40000000p-31, -0x1.8a82e0acb223fp-55,
    0x1.b727220000000p-1, 0x1.529fc20000000p-30, 0x1.d5f47d4d37703p-56,
    0x1.b727220000000p+0, 0x1.529fc20000000p-29, 0x1.d5f47d4d37703p-55,
    -0x1.2363780000000p-1, 0x1.529fc28000000p-28, -0x1.505c1596447e5p-57,
    -0x1.236377c000000p+0, -0x1.5ac07b0000000p-28, -0x1.505c1596447e5p-56,
    0x1.b939104000000p+0, 0x1.4a7f0a0000000p-28, -0x1.505c1596447e5p-55,
    -0x1.1b1bbe8000000p-1, -0x1.6b01ec8000000p-28, 0x1.5f47d4d377037p-55,
    -0x1.1b1bbec000000p+0, 0x1.29fc278000000p-28, -0x1.4170565911f92p-55,
    0x1.c9c882c000000p+0, -0x1.ac07b18000000p-28, 0x1.7d1f534ddc0dbp-55,
    -0x1.b1bbeb0000000p-2, 0x1.4fe13b0000000p-29, -0x1.05c1596447e49p-55,
    -0x1.b1bbeb0000000p-1, 0x1.4fe13a8000000p-28, 0x1.f47d4d377036ep-55,
    -0x1.b1bbeac000000p+0, -0x1.603d8a8000000p-28, -0x1.70565911f924fp-59,
    0x1.3910548000000p-1, 0x1.3f84eb0000000p-28, -0x1.70565911f924fp-58,
    0x1.391054c000000p+0, -0x1.80f62a0000000p-28, -0x1.70565911f924fp-57,
    -0x1.8ddf56c000000p+0, 0x1.fc27580000000p-29, -0x1.70565911f924fp-56,
    0x1.c882a50000000p-1, 0x1.fc27580000000p-28, -0x1.70565911f924fp-55,
    0x1.c882a54000000p+0, -0x1.ec54200000000p-34, 0x1.1f534ddc0db63p-55,
    -0x1.bbead60000000p-2, -0x1.ec54100000000p-33, -0x1.c1596447e493bp-55,
    -0x1.bbead60000000p-1, -0x1.ec54180000000p-32, 0x1.f534ddc0db629p-57,
    -0x1.bbead60000000p+0, -0x1.ec54180000000p-31, 0x1.f534ddc0db629p-56,
    0x1.1054a80000000p-1, -0x1.ec54180000000p-30, 0x1.f534ddc0db629p-55,
    0x1.1054a80000000p+0, -0x1.ec54170000000p-29, -0x1.596447e493ad5p-59,
    -0x1.df56b00000000p+0, -0x1.ec54170000000p-28, -0x1.596447e493ad5p-58,
    0x1.054a7f0000000p-2, 0x1.3abe900000000p-31, -0x1.596447e493ad5p-57,
    0x1.054a7f0000000p-1, 0x1.3abe900000000p-30, -0x1.596447e493ad5p-56,
    0x1.054a7f0000000p+0, 0x1.3abe900000000p-29, -0x1.596447e493ad5p-55,
    -0x1.f56b020000000p+0, 0x1.3abe8f8000000p-28, 0x1.4d377036d8a56p-55,
    0x1.529fc40000000p-4, -0x1.8a82e08000000p-28, -0x1.65911f924eb53p-55,
    0x1.529fc20000000p-3, 0x1.d5f47d0000000p-29, 0x1.34ddc0db6295ap-55,
    0x1.529fc20000000p-2, 0x1.d5f47d8000000p-28, -0x1.96447e493ad4dp-55,
    0x1.529fc28000000p-1, -0x1.505c160000000p-30, 0x1.a6ee06db14acdp-56,
    0x1.529fc28000000p+0, -0x1.505c160000000p-29, 0x1.a6ee06db14acdp-55,
    -0x1.5ac07b0000000p+0, -0x1.505c158000000p-28, -0x1.6447e493ad4cep-56,
    0x1.4a7f09c000000p+0, 0x1.5f47d50000000p-28, -0x1.6447e493ad4cep-55,
    -0x1.6b01ec4000000p+0, -0x1.4170568000000p-28, 0x1.377036d8a5665p-55,
    0x1.29fc274000000p+0, 0x1.7d1f538000000p-28, -0x1.911f924eb5336p-55,
    -0x1.ac07b14000000p+0, -0x1.05c1598000000p-28, 0x1.bb81b6c52b328p-56,
    0x1.4fe13a8000000p-1, 0x1.f47d4d0000000p-28, 0x1.bb81b6c52b328p-55,
    0x1.4fe13ac000000p+0, -0x1.7056580000000p-32, -0x1.11f924eb53362p-56,
    -0x1.603d8a8000000p+0, -0x1.7056580000000p-31, -0x1.11f924eb53362p-55,
    0x1.3f84eb0000000p+0, -0x1.70565a0000000p-30, 0x1.dc0db6295993cp-55,
    -0x1.80f62a0000000p+0, -0x1.7056590000000p-29, -0x1.1f924eb53361ep-57,
    0x1.fc27580000000p-1, -0x1.7056590000000p-28, -0x1.1f924eb53361ep-56,
    0x1.fc2757c000000p+0, 0x1.1f534e0000000p-28, -0x1.1f924eb53361ep-55,
    -0x1.ec54100000000p-6, -0x1.c159648000000p-28, 0x1.c0db6295993c4p-55,
    -0x1.ec54180000000p-5, 0x1.f534de0000000p-30, -0x1.f924eb53361dep-57,
    -0x1.ec54180000000p-4, 0x1.f534de0000000p-29, -0x1.f924eb53361dep-56,
    -0x1.ec54180000000p-3, 0x1.f534de0000000p-28, -0x1.f924eb53361dep-55,
    -0x1.ec54170000000p-2, -0x1.5964480000000p-32, 0x1.b6c52b3278872p-60,
    -0x1.ec54170000000p-1, -0x1.5964480000000p-31, 0x1.b6c52b3278872p-59,
    -0x1.ec54170000000p+0, -0x1.5964480000000p-30, 0x1.b6c52b3278872p-58,
    0x1.3abe900000000p-3, -0x1.5964480000000p-29, 0x1.b6c52b3278872p-57,
    0x1.3abe900000000p-2, -0x1.5964480000000p-28, 0x1.b6c52b3278872p-56,
    0x1.3abe8f8000000p-1, 0x1.4d37700000000p-28, 0x1.b6c52b3278872p-55,
    0x1.3abe8fc000000p+0, -0x1.65911f8000000p-28, -0x1.24eb53361de38p-56,
    -0x1.8a82e0c000000p+0, 0x1.34ddc10000000p-28, -0x1.24eb53361de38p-55,
    0x1.d5f47d8000000p-1, -0x1.96447e8000000p-28, 0x1.b6295993c4390p-55,
    0x1.d5f47d4000000p+0, 0x1.a6ee070000000p-29, -0x1.275a99b0ef1bfp-56,
    -0x1.505c160000000p-2, 0x1.a6ee070000000p-28, -0x1.275a99b0ef1bfp-55,
    -0x1.505c158000000p-1, -0x1.6447e50000000p-29, 0x1.b14acc9e21c82p-55,
    -0x1.505c158000000p+0, -0x1.6447e48000000p-28, -0x1.3ad4cd8778df8p-56,
    0x1.5f47d4c000000p+0, 0x1.3770370000000p-28, -0x1.3ad4cd8778df8p-55,
    -0x1.4170564000000p+0, -0x1.911f928000000p-28, 0x1.8a5664f10e410p-55,
    0x1.7d1f534000000p+0, 0x1.bb81b70000000p-29, -0x1.d6a66c3bc6fbep-56,
    -0x1.05c1598000000p+0, 0x1.bb81b70000000p-28, -0x1.d6a66c3bc6fbep-55,
    0x1.f47d4d4000000p+0, -0x1.11f9250000000p-29, 0x1.4acc9e21c8210p-57,
    -0x1.7056580000000p-4, -0x1.11f9250000000p-28, 0x1.4acc9e21c8210p-56,
    -0x1.70565a0000000p-3, 0x1.dc0db60000000p-28, 0x1.4acc9e21c8210p-55,
    -0x1.7056590000000p-2, -0x1.1f924e0000000p-30, -0x1.6a66c3bc6fbe0p-55,
    -0x1.7056590000000p-1, -0x1.1f924f0000000p-29, 0x1.2b32788720840p-55,
    -0x1.7056590000000p+0, -0x1.1f924e8000000p-28, -0x1.a99b0ef1bef80p-55,
    0x1.1f534dc000000p+0, 0x1.c0db628000000p-28, 0x1.5993c439041fep-56,
    -0x1.c159644000000p+0, -0x1.f924ec0000000p-30, 0x1.5993c439041fep-55,
    0x1.f534de0000000p-2, -0x1.f924eb0000000p-29, -0x1.4cd8778df7c03p-55,
    0x1.f534de0000000p-1, -0x1.f924eb8000000p-28, 0x1.664f10e4107f9p-55,
    0x1.f534ddc000000p+0, 0x1.b6c5300000000p-33, -0x1.3361de37df00dp-55,
    -0x1.5964480000000p-4, 0x1.b6c5280000000p-32, 0x1.993c439041fe5p-55,
    -0x1.5964480000000p-3, 0x1.b6c52c0000000p-31, -0x1.9b0ef1bef806cp-56,
    -0x1.5964480000000p-2, 0x1.b6c52c0000000p-30, -0x1.9b0ef1bef806cp-55,
    -0x1.5964480000000p-1, 0x1.b6c52b0000000p-29, 0x1.93c439041fe51p-56,
    -0x1.5964480000000p+0, 0x1.b6c52b0000000p-28, 0x1.93c439041fe51p-55,
    0x1.4d37704000000p+0, -0x1.24eb530000000p-29, -0x1.b0ef1bef806bap-56,
    -0x1.65911f8000000p+0, -0x1.24eb530000000p-28, -0x1.b0ef1bef806bap-55,
    0x1.34ddc0c000000p+0, 0x1.b629598000000p-28, 0x1.3c439041fe516p-56,
};

// (c, -log(c), its rest) of bins of z from 0.6875.
CONCORD_TABLE(f64, concord_table_log, 384) = {
    0x1.7380000000000p+0, -0x1.7d4eeef5f0000p-2, 0x1.392031f1e4fb2p-42,
    0x1.7100000000000p+0, -0x1.7664e1239c000p-2, -0x1.bcec125453614p-42,
    0x1.6f00000000000p+0, -0x1.70d42e2788000p-2, -0x1.235d5a66fdc51p-42,
    0x1.6d00000000000p+0, -0x1.6b3bb22358000p-2, -0x1.43d895ea4cc9ap-42,
    0x1.6b00000000000p+0, -0x1.659b573040000p-2, 0x1.e0d7e24f50710p-42,
    0x1.6900000000000p+0, -0x1.5ff3070a78000p-2, -0x1.3d3c873e20a07p-42,
    0x1.6700000000000p+0, -0x1.5a42ab0f4c000p-2, -0x1.fc338a1a4108bp-43,
    0x1.6500000000000p+0, -0x1.548a2c3adc000p-2, -0x1.262cfcc61039fp-42,
    0x1.6300000000000p+0, -0x1.4ec9732600000p-2, -0x1.34d7aaf04d104p-45,
    0x1.6180000000000p+0, -0x1.4a7373ced0000p-2, 0x1.9a234ebf35449p-44,
    0x1.5f80000000000p+0, -0x1.44a41b463c000p-2, -0x1.1ee28f37cf612p-44,
    0x1.5d80000000000p+0, -0x1.3ecc460ef4000p-2, -0x1.f4febcec1f680p-42,
    0x1.5b80000000000p+0, -0x1.38ebdb38ec000p-2, -0x1.320b05ccfa994p-42,
    0x1.5a00000000000p+0, -0x1.347dd9a988000p-2, 0x1.5594dd4c58092p-45,
    0x1.5800000000000p+0, -0x1.2e8e2bae10000p-2, -0x1.d309c2cc91a85p-42,
    0x1.5600000000000p+0, -0x1.2895a13de8000p-2, -0x1.a8d7ad24c13f0p-44,
    0x1.5480000000000p+0, -0x1.241558bfd0000p-2, -0x1.403ffcc8a3f2bp-42,
    0x1.5280000000000p+0, -0x1.1e0d0c3370000p-2, -0x1.6be3caa6c3528p-42,
    0x1.5100000000000p+0, -0x1.1980d2dd44000p-2, 0x1.c9098b0b93c6dp-42,
    0x1.4f00000000000p+0, -0x1.136870293c000p-2, 0x1.74fa126759c49p-42,
    0x1.4d80000000000p+0, -0x1.0ed005f658000p-2, 0x1.2dc75285aa803p-45,
    0x1.4c00000000000p+0, -0x1.0a324e2738000p-2, -0x1.0e35f73f7a018p-42,
    0x1.4a00000000000p+0, -0x1.0402594b4c000p-2, -0x1.040dae27bd0b6p-42,
    0x1.4880000000000p+0, -0x1.feb0233e60000p-3, -0x1.f316e32d5e8c7p-45,
    0x1.4700000000000p+0, -0x1.f550a564b8000p-3, 0x1.323e3a09202fep-45,
    0x1.4500000000000p+0, -0x1.e8c0252aa8000p-3, 0x1.2d00b701d1ce0p-42,
    0x1.4380000000000p+0, -0x1.df46c0c720000p-3, -0x1.697a0ac2de40ep-42,
    0x1.4200000000000p+0, -0x1.d5c216b4f8000p-3, -0x1.dc8adc886b2fdp-42,
    0x1.4080000000000p+0, -0x1.cc320c0178000p-3, 0x1.afdbf1966b21bp-43,
    0x1.3f00000000000p+0, -0x1.c2968558c0000p-3, -0x1.8c0a308471d70p-43,
    0x1.3d80000000000p+0, -0x1.b8ef670420000p-3, -0x1.87533321788e0p-44,
    0x1.3c00000000000p+0, -0x1.af3c94e808000p-3, -0x1.ff96c67300c9cp-42,
    0x1.3a80000000000p+0, -0x1.a57df28248000p-3, 0x1.9198dcd789951p-42,
    0x1.3900000000000p+0, -0x1.9bb362e7e0000p-3, 0x1.1f2a8a1ce0ffcp-45,
    0x1.3780000000000p+0, -0x1.91dcc8c340000p-3, -0x1.7bc6abddeff46p-44,
    0x1.3600000000000p+0, -0x1.87fa065210000p-3, 0x1.b77b7effb7f41p-42,
    0x1.3480000000000p+0, -0x1.7e0afd6310000p-3, 0x1.ec6183e270efdp-42,
    0x1.3300000000000p+0, -0x1.740f8f5400000p-3, -0x1.bd264d9bf9d58p-42,
    0x1.3180000000000p+0, -0x1.6a079d0f78000p-3, -0x1.568fe1123453dp-42,
    0x1.3000000000000p+0, -0x1.5ff3070a78000p-3, -0x1.3d3c873e20a07p-43,
    0x1.2e80000000000p+0, -0x1.55d1ad4230000p-3, -0x1.6b765376991fap-42,
    0x1.2d80000000000p+0, -0x1.4f099f4a20000p-3, -0x1.8590341405436p-42,
    0x1.2c00000000000p+0, -0x1.44d2b6ccb8000p-3, 0x1.70cc16135783cp-46,
    0x1.2a80000000000p+0, -0x1.3a8eb2d318000p-3, -0x1.1bafb77d5d504p-42,
    0x1.2900000000000p+0, -0x1.303d718e48000p-3, 0x1.680b5ce3ecb05p-50,
    0x1.2800000000000p+0, -0x1.29552f8200000p-3, 0x1.5b967f4471dfcp-44,
    0x1.2680000000000p+0, -0x1.1eed90e2e0000p-3, 0x1.e9ea9c8f689b7p-42,
    0x1.2500000000000p+0, -0x1.1478584678000p-3, 0x1.ea9cbaefd838bp-42,
    0x1.2400000000000p+0, -0x1.0d77e7cd08000p-3, -0x1.cb2cd2ee2f482p-44,
    0x1.2280000000000p+0, -0x1.02ebb42bf0000p-3, -0x1.ea5705a31ff1ap-42,
    0x1.2180000000000p+0, -0x1.f7b79fec30000p-4, -0x1.f77b3c0bb4098p-42,
    0x1.2000000000000p+0, -0x1.e27076e2b0000p-4, 0x1.a342c2af0003cp-45,
    0x1.1f00000000000p+0, -0x1.d4313d66d0000p-4, 0x1.328a86f226ae2p-42,
    0x1.1d80000000000p+0, -0x1.beba818140000p-4, -0x1.9d921d248382ap-42,
    0x1.1c80000000000p+0, -0x1.b05b49bee0000p-4, -0x1.0ff9160c7c253p-42,
    0x1.1b00000000000p+0, -0x1.9ab4246200000p-4, -0x1.9d66df661e3e8p-43,
    0x1.1a00000000000p+0, -0x1.8c345d6320000p-4, 0x1.937c294d2f567p-42,
    0x1.1880000000000p+0, -0x1.765bf23a70000p-4, 0x1.07b2f00d71096p-42,
    0x1.1780000000000p+0, -0x1.67bb0726f0000p-4, 0x1.f8236d258429cp-43,
    0x1.1680000000000p+0, -0x1.590cafdf00000p-4, -0x1.c284f5722abaap-44,
    0x1.1500000000000p+0, -0x1.42edcbea60000p-4, -0x1.1bc0eeea7c9adp-42,
    0x1.1400000000000p+0, -0x1.341d7961c0000p-4, 0x1.717b6b33e44f8p-43,
    0x1.1300000000000p+0, -0x1.253f62f0a0000p-4, -0x1.416f8fb69a701p-44,
    0x1.1180000000000p+0, -0x1.0ed839b550000p-4, -0x1.37f05c95baa26p-43,
    0x1.1080000000000p+0, -0x1.ffae9119c0000p-5, 0x1.b3f322f674eabp-43,
    0x1.0f80000000000p+0, -0x1.e19070c280000p-5, 0x1.3fd48cc8c53d1p-42,
    0x1.0e80000000000p+0, -0x1.c355dd0920000p-5, -0x1.f2ccc9abf8388p-45,
    0x1.0d00000000000p+0, -0x1.95c830ec80000p-5, -0x1.c7d6fad074029p-42,
    0x1.0c00000000000p+0, -0x1.77458f6320000p-5, -0x1.b9f88c69e543ep-42,
    0x1.0b00000000000p+0, -0x1.58a5bafc80000p-5, -0x1.c9a918d51ea59p-42,
    0x1.0a00000000000p+0, -0x1.39e87b9fe0000p-5, -0x1.7abf5202b6405p-42,
    0x1.0900000000000p+0, -0x1.1b0d989240000p-5, 0x1.3401e9ae889bbp-44,
    0x1.0780000000000p+0, -0x1.d91a66c540000p-6, -0x1.e61f1658cfb9ap-45,
    0x1.0680000000000p+0, -0x1.9ace7551c0000p-6, -0x1.8a289a04e0efcp-43,
    0x1.0580000000000p+0, -0x1.5c45a51b80000p-6, -0x1.a711277a49e0ap-43,
    0x1.0480000000000p+0, -0x1.1d7f7eba00000p-6, 0x1.14193a83fcc7ap-42,
    0x1.0380000000000p+0, -0x1.bcf712c780000p-7, 0x1.e3da1f6842689p-42,
    0x1.0280000000000p+0, -0x1.3e7295d280000p-7, 0x1.2c1383fe53423p-42,
    1.0, 0.0, 0.0,
    1.0, 0.0, 0.0,
    1.0, 0.0, 0.0,
    0x1.fa00000000000p-1, 0x1.82448a3880000p-7, 0x1.4554412c584e0p-44,
    0x1.f600000000000p-1, 0x1.432a925980000p-6, 0x1.98139928637fep-47,
    0x1.f200000000000p-1, 0x1.c63d2ec140000p-6, 0x1.55e318fe7acbdp-43,
    0x1.ef00000000000p-1, 0x1.149e3e4000000p-5, 0x1.6a33ab2df4b82p-43,
    0x1.eb00000000000p-1, 0x1.5715c4c040000p-5, -0x1.8888ddfc47628p-44,
    0x1.e700000000000p-1, 0x1.9a187b5740000p-5, -0x1.0c22e4ec4d90dp-44,
    0x1.e400000000000p-1, 0x1.ccb73cdde0000p-5, -0x1.34d1e48fb0501p-43,
    0x1.e000000000000p-1, 0x1.08598b59e0000p-4, 0x1.d034451fecdfbp-43,
    0x1.dd00000000000p-1, 0x1.2207b5c780000p-4, 0x1.527633f0431f0p-42,
    0x1.d900000000000p-1, 0x1.4485e03dc0000p-4, -0x1.0295c8b96caa5p-43,
    0x1.d600000000000p-1, 0x1.5e95a4d980000p-4, -0x1.b8d20c78ba3a4p-42,
    0x1.d200000000000p-1, 0x1.8197e2f410000p-4, -0x1.c0fe460d20041p-44,
    0x1.cf00000000000p-1, 0x1.9c0c32d4d0000p-4, 0x1.2a41fb0be3cccp-43,
    0x1.cc00000000000p-1, 0x1.b6ac88dad0000p-4, 0x1.6c6f7fd408972p-42,
    0x1.c900000000000p-1, 0x1.d179788220000p-4, -0x1.b26f312841045p-42,
    0x1.c600000000000p-1, 0x1.ec739830a0000p-4, 0x1.11fcba80cdd10p-44,
    0x1.c200000000000p-1, 0x1.08598b59e0000p-3, 0x1.d034451fecdfbp-42,
    0x1.bf00000000000p-1, 0x1.160c8024b0000p-3, 0x1.3d85a552013c8p-42,
    0x1.bc00000000000p-1, 0x1.23d712a4a0000p-3, -0x1.eff2dc702c20ap-42,
    0x1.b900000000000p-1, 0x1.31b994d3a8000p-3, -0x1.83d9c4716bdfcp-42,
    0x1.b600000000000p-1, 0x1.3fb45a5990000p-3, 0x1.465c4f032b956p-42,
    0x1.b300000000000p-1, 0x1.4dc7b897c0000p-3, -0x1.f1c324fa8f008p-42,
    0x1.b100000000000p-1, 0x1.5737cc9018000p-3, 0x1.9baa7a6b887f6p-44,
    0x1.ae00000000000p-1, 0x1.6574ebe8c0000p-3, 0x1.339f1658785cfp-43,
    0x1.ab00000000000p-1, 0x1.73cb907500000p-3, -0x1.759aa4340016ap-42,
    0x1.a800000000000p-1, 0x1.823c165518000p-3, 0x1.1e0ddb9a631e8p-42,
    0x1.a500000000000p-1, 0x1.90c6db9fc8000p-3, 0x1.e6ca0a88e7283p-42,
    0x1.a300000000000p-1, 0x1.9a8778deb8000p-3, 0x1.51c3e8fbfb0e4p-42,
    0x1.a000000000000p-1, 0x1.a93ed3c8b0000p-3, -0x1.30e486a0ac42dp-42,
    0x1.9d00000000000p-1, 0x1.b811730b80000p-3, 0x1.1e90683b9cd76p-42,
    0x1.9b00000000000p-1, 0x1.c2028ab180000p-3, -0x1.92e0ee55c7ac6p-45,
    0x1.9800000000000p-1, 0x1.d1037f2658000p-3, -0x1.0c253f3adb7b7p-42,
    0x1.9600000000000p-1, 0x1.db13db0d48000p-3, 0x1.2806a847527e6p-44,
    0x1.9300000000000p-1, 0x1.ea4449f048000p-3, 0x1.57a4598dcca8dp-42,
    0x1.9100000000000p-1, 0x1.f474b134e0000p-3, -0x1.bae49f1df7b5ep-44,
    0x1.8e00000000000p-1, 0x1.01eae5626c000p-2, 0x1.a43dcfade85aep-44,
    0x1.8c00000000000p-1, 0x1.07138604d4000p-2, 0x1.862736c5bb53ap-42,
    0x1.8a00000000000p-1, 0x1.0c42d67618000p-2, -0x1.d1cee9d3862a3p-42,
    0x1.8700000000000p-1, 0x1.14167ef368000p-2, -0x1.0f9fc3ed92a85p-43,
    0x1.8500000000000p-1, 0x1.1956d3b9bc000p-2, 0x1.7d2f73ad1aa14p-45,
    0x1.8300000000000p-1, 0x1.1e9e167888000p-2, 0x1.9f4544b0dd268p-42,
    0x1.8000000000000p-1, 0x1.269621134c000p-2, 0x1.b92783beb7677p-42,
    0x1.7e00000000000p-1, 0x1.2bef07cdc8000p-2, 0x1.3539f494a009ep-42,
    0x1.7c00000000000p-1, 0x1.314f1e1d34000p-2, 0x1.ce3b0a59bd869p-42,
    0x1.7a00000000000p-1, 0x1.36b6776be0000p-2, 0x1.116ecdb0f177cp-42,
    0x1.7800000000000p-1, 0x1.3c25277334000p-2, -0x1.cf895693f2854p-43,
    0x1.7500000000000p-1, 0x1.44591e0538000p-2, 0x1.f48b53b6b6e14p-42,
};

// Zeros of lgamma with 16 numbers each.
CONCORD_TABLE(f64, concord_table_lgamma, 448) = {
    -0x1.3a7fc9600f86cp+1, -0x1.55f64f98af8d0p-55, 0x1.83fe966af535fp+0, -0x1.775909a36a6a4p-55, 0x1.d3fe4b007c361p-7, 0x1.36eebb002f55dp+2, 0x1.694a6058a7858p+0, 0x1.1718d7ca09e5bp+3, 0x1.7339fe04b2764p+2, 0x1.8d32f682aa0bdp+4, 0x1.809f04ee6e0fap+4, 0x1.48eaa81657361p+6, 0x1.9297adb2def5ap+6, 0x1.286fb8cbaebb3p+8, 0x1.a92e0a5de4bf8p+8, -0x1.c4b0cd201366ap-110,
    -0x1.5fb410a1bd901p+1, 0x1.a19a96d2e6f85p-54, -0x1.ea12da904b18cp+0, -0x1.220130f99b2cfp-54, 0x1.025f7af2137fap-7, 0x1.3267f3c265a52p+3, -0x1.4185ac30c8bf2p+4, 0x1.f504accc9f19bp+5, -0x1.8588458207eacp+7, 0x1.4373f7cc709b3p+9, -0x1.12239bdd6c013p+11, 0x1.dba65e27421c4p+12, -0x1.a2d2504d7e987p+14, 0x1.7581739ee6087p+16, -0x1.506c65fad617ep+18, 0x1.140b4ff4b7d60p-108,
    -0x1.9260dbc9e59afp+1, -0x1.f717cd335a7b3p-53, 0x1.f20a65f2fac55p+2, -0x1.1d258e4b0be84p-53, 0x1.260dbc9e59af8p-8, 0x1.9d4d2977150efp+4, 0x1.c1137124d5c5bp+6, 0x1.267203d776b0ep+9, 0x1.99a6337da39ddp+11, 0x1.293c3f78d3bdbp+14, 0x1.bb97aa0b71e45p+16, 0x1.51ea3345f5349p+19, 0x1.057f65c64b21bp+22, 0x1.99c8650e3a38bp+24, 0x1.44520c3a4bb84p+27, -0x1.d32a2a65bfd63p-107,
    -0x1.fa471547c2fe5p+1, -0x1.70d4561291237p-56, -0x1.4b99d966c5647p+4, 0x1.9cba2450afff3p-50, 0x1.6e3aae0f406bdp-10, 0x1.f76deae0436bep+7, -0x1.d25359d4b2f38p+11, 0x1.e8f829f141aa5p+15, -0x1.116f7806d26d3p+20, 0x1.3e8f3ab9fc1f4p+24, -0x1.7dbbe062ffd9ep+28, 0x1.d2f76de7bd027p+32, -0x1.2225fe4f8493dp+37, 0x1.6d12ae1936a57p+41, -0x1.cffc2a8f5fd74p+45, 0x1.9e6fadbbc171ap-111,
    -0x1.0284e78599581p+2, 0x1.e78c1e9e43cfep-53, 0x1.aca5cf4921642p+4, 0x1.a46a2e0d8fe10p-51, 0x1.4273c2ccac062p-10, 0x1.44415cd813f8ep+8, 0x1.559b11b2a9c7cp+12, 0x1.96d18e21aebdbp+16, 0x1.0261eb5732e40p+21, 0x1.55e3dbf99eb3dp+25, 0x1.d14fe49c4e437p+29, 0x1.433dce282da6ep+34, 0x1.c8399c7588cd0p+38, 0x1.45fbe666d9402p+43, 0x1.d68d794caefcep+47, -0x1.2ac17bfd6be92p-108,
    -0x1.3f7577a6eeafdp+2, 0x1.5de5eab7f12cfp-53, -0x1.d224a3ef9e41fp+6, -0x1.9be272a13babcp-48, 0x1.1510b222a0657p-12, 0x1.b533c678a3956p+12, -0x1.0d3f7fee65d34p+19, 0x1.752a6f5ac2726p+25, -0x1.13d5d163bd3f7p+32, 0x1.a8c5c53458ca5p+38, -0x1.5068b3ed69409p+45, 0x1.0ffa575ea7fe9p+52, -0x1.bec12dd78a14bp+58, 0x1.7382570f089d4p+65, -0x1.380ebf618414ep+72, -0x1.4075f5e0494a2p-110,
    -0x1.4086a57f0b6d9p+2, -0x1.95262b72ca9cap-55, 0x1.ed72e0829ae02p+6, -0x1.fdc1859aea473p-50, 0x1.0d4afe16db219p-12, 0x1.cecc32ec22f9bp+12, 0x1.253d8563f7264p+19, 0x1.a225df2da6e63p+25, 0x1.3e01773762671p+32, 0x1.f7d8d5bdcb186p+38, 0x1.9a8d00c77a92cp+45, 0x1.557fd8c490b4bp+52, 0x1.209221a6240a0p+59, 0x1.edc98d3bbb5dap+65, 0x1.aabd28e6f7c6bp+72, -0x1.bd98d5e0861aap-109,
    -0x1.7fe92f591f40dp+2, -0x1.7dd4ed62cbd32p-52, -0x1.661f6a43a5e12p+9, -0x1.0c437b83bc0e6p-45, 0x1.6d0a6e0bf2a09p-15, 0x1.f79dcb794f26fp+17, -0x1.d6e8088a19ffep+26, 0x1.ef5d308dbfc97p+35, -0x1.15ea6b0ab529ep+45, 0x1.44d54e9fe2397p+54, -0x1.8684e40cebb3dp+63, 0x1.df44c1d81c723p+72, -0x1.2ac3053f4ee19p+82, 0x1.79226ae04a7a4p+91, -0x1.e0dffb5f77a15p+100, 0x1.2071c071a2146p-108,
    -0x1.8016b25897c8dp+2, 0x1.27e0f49a4ba72p-54, 0x1.69de49e3af2aap+9, 0x1.954b690943b33p-47, 0x1.6b25897c8ced8p-15, 0x1.fce23484cfd10p+17, 0x1.de503a3c37c40p+26, 0x1.f9c7b52558abbp+35, 0x1.1d3d50714416ap+45, 0x1.4f21e2fb9e060p+54, 0x1.9500994cd8a9ep+63, 0x1.f3a2c23c19d79p+72, 0x1.39152652eb3abp+82, 0x1.8d45f8be8912ep+91, 0x1.fd3214a70281fp+100, -0x1.72e1ab15a4d03p-110,
    -0x1.bffcbf76b86f0p+2, 0x1.853b29347b806p-57, -0x1.3abf7a5cea91bp+12, -0x1.8257b8abd0511p-42, 0x1.a044a3c880185p-18, 0x1.8349a2550422dp+23, -0x1.3d91dadc98428p+35, 0x1.24f3d636f3339p+47, -0x1.20427df1b3492p+59, 0x1.2775e857fb69cp+71, -0x1.377e70b463c13p+83, 0x1.4f3d28edba5cdp+95, -0x1.6e8557168cf8ep+107, 0x1.95bb17ce4279bp+119, -0x1.c5ac12d48f08ep+131, -0x1.0fa018051dd41p-111,
    -0x1.c0033fdedfe1fp+2, 0x1.20bb7d2324678p-52, 0x1.3b407aa387bd1p+12, 0x1.da1e57343b1efp-43, 0x1.9fef6ff0f5be9p-18, 0x1.83e85daafbad6p+23, 0x1.3e552b5e3c226p+35, 0x1.25e42a45e905bp+47, 0x1.216a3560743eep+59, 0x1.28e1c70ef5313p+71, 0x1.393e2bc330081p+83, 0x1.5164141f5ae6ap+95, 0x1.712b3a86e1be0p+107, 0x1.98fd36b906d52p+119, 0x1.c9ae6ef62604ap+131, 0x1.f5536678d69d3p-106,
    -0x1.ffff97f8159cfp+2, -0x1.e54f415a91586p-55, -0x1.3af76fe4c2fabp+15, -0x1.7cc92f0b996a5p-40, 0x1.a01fa98c3c356p-21, 0x1.838e76caaf123p+29, -0x1.3de68b3256526p+44, 0x1.255c052530c71p+59, -0x1.20c2a8418126ap+74, 0x1.28139342cef00p+89, -0x1.384066c322246p+104, 0x1.502bc4dad47d3p+119, -0x1.6faadfece0e2fp+134, 0x1.9724323c8991ep+149, -0x1.c7684c96f2617p+164, -0x1.53a5d106f9a3ep-109,
    -0x1.000034028b3f9p+3, -0x1.f60cb3cec1cedp-52, 0x1.3b088fed67718p+15, -0x1.505613ba29a31p-39, 0x1.a01459fc9f60dp-21, 0x1.83a3893550edcp+29, 0x1.3e0078db8ada4p+44, 0x1.257bec9464251p+59, 0x1.20e9ea0755a47p+74, 0x1.2843e1313c83bp+89, 0x1.387bd6a785478p+104, 0x1.5074e788de770p+119, 0x1.7004dd990d7d9p+134, 0x1.9792ed5f6dfc9p+149, 0x1.c7f08cdaef517p+164, 0x1.ea26620d6b1cap-106,
    -0x1.1ffffa3884bd0p+3, -0x1.ff90c9d2ae925p-53, -0x1.625edfc63db2fp+18, 0x1.da7fc3ed69467p-37, 0x1.71ded0bf801bdp-24, 0x1.ea8c150480a7ap+35, -0x1.c4b30e4bc55c1p+53, 0x1.d5fe468dbbf03p+71, -0x1.043d21bc24decp+90, 0x1.2c334ae535e1dp+108, -0x1.64314b431cd64p+126, 0x1.af6ed589b3a86p+144, -0x1.096e446edcfb3p+163, 0x1.4aaf49e713c02p+181, -0x1.a0246d9c1b687p+199, 0x1.30c0efef78c04p-107,
    -0x1.200005c7768fbp+3, -0x1.b5b610ffb70d4p-54, 0x1.6261203919440p+18, 0x1.7d5e8272cda81p-38, 0x1.71dda3ec36b6cp-24, 0x1.ea8f32fb7f586p+35, 0x1.c4b75ee68e2bap+53, 0x1.d6043fa1ffaa5p+71, 0x1.04414411db7f4p+90, 0x1.2c3903ec9c90cp+108, 0x1.64393744bb9bdp+126, 0x1.af79ccdc71d33p+144, 0x1.0975db7d71fc6p+163, 0x1.4ab9cba1e346ep+181, 0x1.a032f8f11473dp+199, -0x1.deb7ad09ec5eap-108,
    -0x1.3fffff6c0d7c0p+3, 0x1.197cea8c42d7dp-51, -0x1.baf7da5f3795dp+21, -0x1.16a79518c8122p-33, 0x1.27e50808cbe75p-27, 0x1.7f3e8791fa0d2p+42, -0x1.ba18befcaaa63p+63, 0x1.1ede14765dc0cp+85, -0x1.8d1a9ab5a5050p+106, 0x1.1e4d8c35d22ccp+128, -0x1.a8a191db10900p+149, 0x1.4174f65ff8680p+171, -0x1.ee6d90f2332c5p+192, 0x1.80fd3420fba1dp+214, -0x1.2ecd481762ff2p+236, 0x1.7072c5a292198p-105,
    -0x1.40000093f2777p+3, -0x1.927b45d95e154p-52, 0x1.baf825a0c63b2p+21, -0x1.20323f10165f2p-35, 0x1.27e4eee649ed1p-27, 0x1.7f3ec8ae05f2ep+42, 0x1.ba192fa62a5c8p+63, 0x1.1ede75ef431b0p+85, 0x1.8d1b435ece20fp+106, 0x1.1e4e1e218c99cp+128, 0x1.a8a28e596cccep+149, 0x1.4175d0d35b3d4p+171, 0x1.ee6f0af10b983p+192, 0x1.80fe7b2913e7cp+214, 0x1.2ece6307c7df4p+236, -0x1.0780c21b6e452p-106,
    -0x1.5ffffff28cdd4p+3, 0x1.c9924a65aa486p-53, -0x1.308a7d8eadb7cp+25, 0x1.a95a609877977p-31, 0x1.ae64583932495p-31, 0x1.6a4938065bfd2p+49, -0x1.1f51f646980c5p+74, 0x1.005993b17e047p+99, -0x1.e7ee7dccf100cp+123, 0x1.e3b550a815c55p+148, -0x1.ed38daa0d4c2cp+173, 0x1.00b346bb02a7dp+199, -0x1.0f71919049fbdp+224, 0x1.229f2440f731ep+249, -0x1.3a4c2ff760a7cp+274, -0x1.8d05a4e458063p-108,
    -0x1.6000000d7322ap+3, -0x1.8aecb2d37ff52p-51, 0x1.308a827152450p+25, -0x1.1233b372bfd9ep-29, 0x1.ae6454c576597p-31, 0x1.6a493dd62402ep+49, 0x1.1f51fd307a7cdp+74, 0x1.00599beaf8731p+99, 0x1.e7ee915e59f90p+123, 0x1.e3b567ef58977p+148, 0x1.ed38f6520c29fp+173, 0x1.00b35733b93d4p+199, 0x1.0f71a5288c1c1p+224, 0x1.229f3b905f980p+249, 0x1.3a4c4bb249170p+274, -0x1.c97d472001b98p-109,
    -0x1.7ffffffee1127p+3, -0x1.ce1f7906b30f5p-54, -0x1.c8cfbfaf2b0c8p+28, 0x1.7e94018c6c78dp-27, 0x1.1eed8f18f0438p-34, 0x1.97926203e98acp+56, -0x1.e4da54ebc6dacp+84, 0x1.447163ae314a4p+113, -0x1.cf2769e629665p+141, 0x1.585bdc3e1a1e0p+170, -0x1.075951fd3e6e6p+199, 0x1.9b2f368a135bap+227, -0x1.4619ae6d212bep+256, 0x1.05dadf39fe06dp+285, -0x1.a8c7f835a5b74p+313, 0x1.b43a13e31b9dfp-111,
    -0x1.800000011eed9p+3, 0x1.19d5307e1fb5ep-53, 0x1.c8cfc050d4f38p+28, -0x1.7ef0726d4e7acp-26, 0x1.1eed8ee62acf8p-34, 0x1.9792629426754p+56, 0x1.e4da55ed2869fp+84, 0x1.44716493d49d4p+113, 0x1.cf276b7feead7p+141, 0x1.585bddabb4165p+170, 0x1.075953436fe86p+199, 0x1.9b2f38d024339p+227, 0x1.4619b074745a5p+256, 0x1.05dae10956d50p+285, 0x1.a8c7fb7073eadp+313, 0x1.8f0dbe4153150p-109,
    -0x1.9fffffffe9edcp+3, 0x1.84f40342d001cp-51, -0x1.7328cbfacb4e5p+32, -0x1.eae875d913775p-24, 0x1.6124613d00d0bp-38, 0x1.0d0fa2e06b2f1p+64, -0x1.04105bec453b2p+96, 0x1.1ac9dd401f2e4p+128, -0x1.47ffb069fc5a3p+160, 0x1.8c49d9a550bffp+192, -0x1.ec79de0e58f55p+224, 0x1.38615a9e729aap+257, -0x1.929453f57ff5ep+289, 0x1.06a78089cd9f2p+322, -0x1.5a302f95ffb66p+354, 0x1.50556e5aede66p-105,
    -0x1.a000000016124p+3, -0x1.84e03341ee8ddp-51, 0x1.7328cc0534b1bp+32, -0x1.f63c3a52c12bfp-24, 0x1.612461380cd08p-38, 0x1.0d0fa2e7f760fp+64, 0x1.04105bf7369b6p+96, 0x1.1ac9dd4ffcbb2p+128, 0x1.47ffb080fcf49p+160, 0x1.8c49d9c6aa4a2p+192, 0x1.ec79de3eb3092p+224, 0x1.38615ac17fba5p+257, 0x1.929454285190cp+289, 0x1.06a780aea48d7p+322, 0x1.5a302fcb6910cp+354, 0x1.f8391fef50bd4p-105,
    -0x1.bffffffffe6c7p+3, 0x1.d2a30f3dae0fbp-51, -0x1.44c3b27faa6bcp+36, -0x1.1972c0b160b2bp-21, 0x1.93974a8c3cf6cp-42, 0x1.9bfff16cfee53p+71, -0x1.5c71eb305bbbap+107, 0x1.4b87e88b6aa31p+143, -0x1.50778e66e7830p+179, 0x1.63b46f95b59ebp+215, -0x1.82c962042fed7p+251, 0x1.ad58bb7f9c093p+287, -0x1.e427911e97b22p+323, 0x1.14644886639ffp+360, -0x1.3ec2018a6e348p+396, 0x1.774491db8dc05p-107,
    -0x1.c000000001939p+3, -0x1.d2a2f4a73af63p-51, 0x1.44c3b28055944p+36, -0x1.198d430af8ae5p-21, 0x1.93974a8bd29cfp-42, 0x1.9bfff16dd8075p+71, 0x1.5c71eb316f30cp+107, 0x1.4b87e88cc815ep+143, 0x1.50778e68a2d38p+179, 0x1.63b46f97e8037p+215, 0x1.82c96206f962dp+251, 0x1.ad58bb8325232p+287, 0x1.e427912313eaep+323, 0x1.146448893bf2bp+360, 0x1.3ec2018e0a2a0p+396, 0x1.1ce11583b5fc3p-105,
    -0x1.dfffffffffe52p+3, 0x1.fcf9ccfd8867ep-51, -0x1.30777757fa84ap+40, 0x1.86558a534b1cdp-14, 0x1.ae7f3e733f622p-46, 0x1.6a1bf33124eddp+79, -0x1.1f1c1dba92510p+119, 0x1.0019876a17ea6p+159, -0x1.e7562019511d5p+198, 0x1.e300149e44802p+238, -0x1.ec6148051096fp+278, 0x1.0033115fea2e8p+319, -0x1.0ed9119b5a477p+359, 0x1.21e9bf7818640p+399, -0x1.39746ce3ecf1ep+439, 0x1.1c0ec5919506cp-105,
    -0x1.e0000000001aep+3, -0x1.fcf9ccde87210p-51, 0x1.30777758057b6p+40, 0x1.865586b64d417p-14, 0x1.ae7f3e7337a1dp-46, 0x1.6a1bf33131f80p+79, 0x1.1f1c1dbaa1d33p+119, 0x1.0019876a2a5c3p+159, 0x1.e75620197cfcep+198, 0x1.e300149e78ae1p+238, 0x1.ec6148054ea5dp+278, 0x1.003311600f15dp+319, 0x1.0ed9119b862b6p+359, 0x1.21e9bf784c973p+399, 0x1.39746ce42b070p+439, -0x1.f0bd3dc636171p-105,
    -0x1.fffffffffffe5p+3, -0x1.80c18cc43ea26p-53, -0x1.30777757ffa65p+44, 0x1.9865588a24e58p-10, 0x1.ae7f3e733bc16p-50, 0x1.6a1bf3312b084p+87, -0x1.1f1c1dba99933p+131, 0x1.0019876a208c6p+175, -0x1.e756201965a62p+218, 0x1.e300149e5cec2p+262, -0x1.ec6148052da29p+306, 0x1.0033115ffb743p+351, -0x1.0ed9119b6ed25p+395, 0x1.21e9bf7830d28p+439, -0x1.39746ce40a008p+483, 0x1.8d1b2eec9d961p-108,
};

CONCORD_TABLE(u64, concord_table_two_over_pi, 20) = {
    0x0000000000000000,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
};
