// A header whose versions differ between the two parts.
CONCORD_FUNCTION(f32, version, (f32 x), return x + PLUS;)
