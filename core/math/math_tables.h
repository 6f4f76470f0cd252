// Written by lab/math/generate.py. Coefficients and tables of math_f32.h and math_f64.h.

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
