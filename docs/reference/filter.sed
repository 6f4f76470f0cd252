# Filters a header for Doxygen line by line; see docs/Doxyfile. Every line stays a line, so that warnings keep their numbers.
# Friends, destructors, deleted and defaulted special members.
s/^ *friend [^;{]*;.*$//
s/^ *(virtual )?~[A-Za-z]+\(\)[^;{}]*;.*$//
s/^ *(constexpr |explicit )*([A-Za-z]+)\([^;{}]*\)[^;{}]* = (delete|default);.*$//
s/^ *[A-Za-z]+& operator=\([^;{}]*\)[^;{}]* = (delete|default);.*$//
s/^ *(constexpr )?(bool|auto) operator(==|<=>)\([^;{}]*\)[^;{}]* = default;.*$//
# Doxygen 1.9 drops a member called `local`, a word of another language; simplify_xml.py takes the underscores away.
s/([*& ]local)( *[=;])/\1__\2/
