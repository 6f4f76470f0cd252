// The code of keys, OpenCL C. Used by all kernels of sort except those of comparators. Parallel source:
// sort_keys.cu.
//
// The code of a key is the unsigned integer of its size that compares in key order; digits are digits of the code.
// For unsigned keys it is the key, for signed keys the sign bit is inverted. For floats all other bits of negative
// keys are inverted too (IEEE 754 totalOrder). For descending order all bits are inverted in addition. `flip` and
// `fold` say which bits. Keys in memory stay unencoded.
//
// K: unsigned integer of a key's size, SIZE bytes; V: of a value's size, VALUE_SIZE bytes, 0 for keys alone.

#include "common.cl"

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

INLINED K code_of(K x, Code code) { return x ^ code.flip ^ ((K)(0 - (x >> (8 * SIZE - 1))) & code.fold); }

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
