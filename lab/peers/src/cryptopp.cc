// C interface to RC6 of Crypto++. build.rs compiles it into a separate library, which is opened at run time.
#include <crypto++/config.h>
#include <crypto++/modes.h>
#include <crypto++/rc6.h>

using namespace CryptoPP;

extern "C" {

int tress_cryptopp_version() { return CRYPTOPP_VERSION; }

enum { ECB, CBC, CTR };

// Returns a cipher with this key, or null if Crypto++ rejects the key.
SymmetricCipher *tress_cryptopp_rc6(int mode, int decrypts, const unsigned char *key, size_t key_bytes,
                                    const unsigned char *iv) {
    try {
        if (mode == CTR) return new CTR_Mode<RC6>::Encryption(key, key_bytes, iv);
        if (mode == CBC && decrypts) return new CBC_Mode<RC6>::Decryption(key, key_bytes, iv);
        if (mode == CBC) return new CBC_Mode<RC6>::Encryption(key, key_bytes, iv);
        if (decrypts) return new ECB_Mode<RC6>::Decryption(key, key_bytes);
        return new ECB_Mode<RC6>::Encryption(key, key_bytes);
    } catch (...) {
        return nullptr;
    }
}

void tress_cryptopp_free(SymmetricCipher *cipher) { delete cipher; }

// Encrypts or decrypts one message in place, with an initialisation vector unless the mode is ECB. In ECB and CBC the
// data must be whole blocks. Returns 0, or 1 if Crypto++ reports an error.
int tress_cryptopp_apply(SymmetricCipher *cipher, const unsigned char *iv, unsigned char *data, size_t bytes) {
    try {
        if (iv) cipher->Resynchronize(iv);
        cipher->ProcessData(data, data, bytes);
        return 0;
    } catch (...) {
        return 1;
    }
}
}
