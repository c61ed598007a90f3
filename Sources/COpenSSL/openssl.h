#pragma once
#include <string.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// OpenSSL's macros that Swift cannot import, each as the function it stands for. No logic here.

static inline long gannet_SSL_CTX_set_mode(SSL_CTX *c, long mode) { return SSL_CTX_set_mode(c, mode); }
static inline long gannet_SSL_CTX_set_min_proto_version(SSL_CTX *c, int v) { return SSL_CTX_set_min_proto_version(c, v); }
static inline long gannet_SSL_CTX_set_max_proto_version(SSL_CTX *c, int v) { return SSL_CTX_set_max_proto_version(c, v); }
static inline long gannet_SSL_CTX_set_session_cache_mode(SSL_CTX *c, long m) { return SSL_CTX_set_session_cache_mode(c, m); }
static inline long gannet_SSL_CTX_add1_chain_cert(SSL_CTX *c, X509 *x) { return SSL_CTX_add1_chain_cert(c, x); }
static inline long gannet_SSL_set_tlsext_host_name(SSL *s, const char *name) { return SSL_set_tlsext_host_name(s, name); }
static inline void gannet_BIO_set_retry_read(BIO *b) { BIO_set_retry_read(b); }
static inline void gannet_BIO_clear_retry_flags(BIO *b) { BIO_clear_retry_flags(b); }
static inline long gannet_BIO_get_mem_data(BIO *b, char **data) { return BIO_get_mem_data(b, data); }
static inline EVP_PKEY *gannet_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *gannet_EVP_RSA_gen(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline int gannet_sk_GENERAL_NAME_num(const GENERAL_NAMES *n) { return sk_GENERAL_NAME_num(n); }
static inline GENERAL_NAME *gannet_sk_GENERAL_NAME_value(const GENERAL_NAMES *n, int i) { return sk_GENERAL_NAME_value(n, i); }
static inline int gannet_sk_GENERAL_NAME_push(GENERAL_NAMES *n, GENERAL_NAME *name) { return sk_GENERAL_NAME_push(n, name); }
static inline GENERAL_NAMES *gannet_sk_GENERAL_NAME_new_null(void) { return sk_GENERAL_NAME_new_null(); }
static inline STACK_OF(X509) *gannet_sk_X509_new_null(void) { return sk_X509_new_null(); }
static inline int gannet_sk_X509_push(STACK_OF(X509) *s, X509 *x) { return sk_X509_push(s, x); }
static inline int gannet_sk_X509_num(const STACK_OF(X509) *s) { return sk_X509_num(s); }
static inline X509 *gannet_sk_X509_value(const STACK_OF(X509) *s, int i) { return sk_X509_value(s, i); }
static inline void gannet_sk_X509_pop_free(STACK_OF(X509) *s) { sk_X509_pop_free(s, X509_free); }
static inline int gannet_sk_X509_INFO_num(const STACK_OF(X509_INFO) *s) { return sk_X509_INFO_num(s); }
static inline X509_INFO *gannet_sk_X509_INFO_value(const STACK_OF(X509_INFO) *s, int i) { return sk_X509_INFO_value(s, i); }
static inline void gannet_sk_X509_INFO_pop_free(STACK_OF(X509_INFO) *s) { sk_X509_INFO_pop_free(s, X509_INFO_free); }
static inline unsigned long gannet_XN_FLAG_READABLE(void) { return XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB; }
static inline long gannet_SSL_set_tlsext_debug_callback(SSL *s, void (*cb)(SSL *, int, int, const unsigned char *, int, void *)) { return SSL_set_tlsext_debug_callback(s, cb); }
