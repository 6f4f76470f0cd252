// The code of keys, CUDA C++. Used by all kernels of sort except those of comparators. Parallel source:
// sort_keys.cl.
//
// The code of a key is the unsigned integer of its size that compares in key order; digits are digits of the code.
// For unsigned keys it is the key, for signed keys the sign bit is inverted. For floats all other bits of negative
// keys are inverted too (IEEE 754 totalOrder). For descending order all bits are inverted in addition. `flip` and
// `fold` say which bits. Keys in memory stay unencoded.
//
// K: unsigned integer of a key's size, SIZE bytes; V: of a value's size, VALUE_SIZE bytes, 0 for keys alone; PLAIN:
// keys are their own codes, known when the kernel is compiled.

#ifndef PLAIN
#define PLAIN 0
#endif

constexpr bool has_values = VALUE_SIZE != 0;

struct Code {
    K flip;  // bits to invert in every key
    K fold;  // bits to invert in addition if the key's highest bit is set
};

__device__ __forceinline__ Code make_code(u64 flip, u64 fold) { return {K(flip), K(fold)}; }

__device__ __forceinline__ K code_of(K x, Code code) {
    if constexpr (PLAIN) return x;
    return x ^ code.flip ^ (K(0 - (x >> (8 * SIZE - 1))) & code.fold);
}

// The key with that code.
__device__ __forceinline__ K key_of(K bits, Code code) {
    const K x = bits ^ code.flip;
    return x ^ (K(0 - (x >> (8 * SIZE - 1))) & code.fold);
}

// The digit of a key whose lowest bit is bit `shift` of the code.
__device__ __forceinline__ u32 digit_of(K key, u32 shift, u32 mask, Code code) {
    return u32(code_of(key, code) >> shift) & mask;
}

// Exchanges two keys or two values.
template <class E>
__device__ __forceinline__ void exchange(E& a, E& b) {
    const E x = a;
    a = b;
    b = x;
}
