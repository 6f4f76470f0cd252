// The code of keys, OpenCL C. Used by all kernels of sort except those of comparators. The parallel source
// sort_keys.cu describes it.

#include "common.cl"

#ifndef PLAIN
#define PLAIN 0
#endif

typedef struct {
    K flip;  // bits to invert in every key
    K fold;  // bits to invert in addition if the key's highest bit is set
} Code;

INLINED Code make_code(u64 flip, u64 fold) {
    Code code;
    code.flip = (K)flip;
    code.fold = (K)fold;
    return code;
}

INLINED K code_of(K x, Code code) {
    if (PLAIN) return x;
    return x ^ code.flip ^ ((K)(0 - (x >> (8 * SIZE - 1))) & code.fold);
}

// The key with that code.
INLINED K key_of(K bits, Code code) {
    const K x = bits ^ code.flip;
    return x ^ ((K)(0 - (x >> (8 * SIZE - 1))) & code.fold);
}

// The digit of a key whose lowest bit is bit `shift` of the code.
INLINED u32 digit_of(K key, u32 shift, u32 mask, Code code) { return (u32)(code_of(key, code) >> shift) & mask; }

// Exchanges two keys or values.
INLINED void exchange_keys(K* a, K* b) {
    const K x = *a;
    *a = *b;
    *b = x;
}
INLINED void exchange_values(V* a, V* b) {
    const V x = *a;
    *a = *b;
    *b = x;
}
