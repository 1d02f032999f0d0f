// Hashes of one algorithm are values; OpenSSL 3 would rather have one interface for all of them, whose
// states are objects. They stay as long as OpenSSL 3 does.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>
