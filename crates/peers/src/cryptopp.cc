// RC6 of Crypto++ behind a C interface. Built by build.rs into a library of its own, which is opened at run time.
#include <crypto++/config.h>
#include <crypto++/modes.h>
#include <crypto++/rc6.h>

using namespace CryptoPP;

extern "C" {

int tress_cryptopp_version() { return CRYPTOPP_VERSION; }

enum { ECB, CBC, CTR };

// In place; whole blocks in ECB and CBC. Returns 0, or 1 if Crypto++ refuses.
int tress_cryptopp_rc6(int mode, int decrypts, const unsigned char *key, size_t key_bytes, const unsigned char *iv,
                       unsigned char *data, size_t bytes) {
    try {
        if (mode == CTR) {
            CTR_Mode<RC6>::Encryption(key, key_bytes, iv).ProcessData(data, data, bytes);
        } else if (mode == CBC && decrypts) {
            CBC_Mode<RC6>::Decryption(key, key_bytes, iv).ProcessData(data, data, bytes);
        } else if (mode == CBC) {
            CBC_Mode<RC6>::Encryption(key, key_bytes, iv).ProcessData(data, data, bytes);
        } else if (decrypts) {
            ECB_Mode<RC6>::Decryption(key, key_bytes).ProcessData(data, data, bytes);
        } else {
            ECB_Mode<RC6>::Encryption(key, key_bytes).ProcessData(data, data, bytes);
        }
        return 0;
    } catch (...) {
        return 1;
    }
}
}
