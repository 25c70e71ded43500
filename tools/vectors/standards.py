"""Known answers from the text of standards, typed in by hand, because no machine-readable file has them.

Every value is checked against OpenSSL by `convert.py` before it is written, so a typing error cannot reach a test.
"""


def counting(first, length):
    """The bytes first, first + 1, ... as hex, as the standards number their inputs."""
    return bytes((first + i) % 256 for i in range(length)).hex()


# FIPS 197 (2001, updated 2023), Appendices B and C: (comment, key, plaintext, ciphertext).
FIPS_197 = [
    ("Appendix B", "2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
     "3925841d02dc09fbdc118597196a0b32"),
    ("Appendix C.1", counting(0, 16), "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("Appendix C.2", counting(0, 24), "00112233445566778899aabbccddeeff", "dda97ca4864cdfe06eaf70a0ec0d7191"),
    ("Appendix C.3", counting(0, 32), "00112233445566778899aabbccddeeff", "8ea2b7ca516745bfeafc49904b496089"),
]

# NIST SP 800-38A (2001), Appendix F: one plaintext, three keys.
SP_800_38A_PLAINTEXT = (
    "6bc1bee22e409f96e93d7e117393172a" "ae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52ef" "f69f2445df4f9b17ad2b417be66c3710"
)
SP_800_38A_KEYS = [
    "2b7e151628aed2a6abf7158809cf4f3c",
    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
]
# Mode: (sections that encrypt and decrypt for each key, first counter or IV, ciphertexts).
SP_800_38A = {
    "ECB": (["F.1.1, F.1.2", "F.1.3, F.1.4", "F.1.5, F.1.6"], None, [
        "3ad77bb40d7a3660a89ecaf32466ef97" "f5d3d58503b9699de785895a96fdbaaf"
        "43b1cd7f598ece23881b00e3ed030688" "7b0c785e27e8ad3f8223207104725dd4",
        "bd334f1d6e45f25ff712a214571fa5cc" "974104846d0ad3ad7734ecb3ecee4eef"
        "ef7afd2270e2e60adce0ba2face6444e" "9a4b41ba738d6c72fb16691603c18e0e",
        "f3eed1bdb5d2a03c064b5a7e3db181f8" "591ccb10d410ed26dc5ba74a31362870"
        "b6ed21b99ca6f4f9f153e7b1beafed1d" "23304b7a39f9f3ff067d8d8f9e24ecc7",
    ]),
    "CBC": (["F.2.1, F.2.2", "F.2.3, F.2.4", "F.2.5, F.2.6"], counting(0, 16), [
        "7649abac8119b246cee98e9b12e9197d" "5086cb9b507219ee95db113a917678b2"
        "73bed6b8e3c1743b7116e69e22229516" "3ff1caa1681fac09120eca307586e1a7",
        "4f021db243bc633d7178183a9fa071e8" "b4d9ada9ad7dedf4e5e738763f69145a"
        "571b242012fb7ae07fa9baac3df102e0" "08b0e27988598881d920a9e64f5615cd",
        "f58c4c04d6e5f1ba779eabfb5f7bfbd6" "9cfc4e967edb808d679f777bc6702c7d"
        "39f23369a9d9bacfa530e26304231461" "b2eb05e2c39be9fcda6c19078c6a9d1b",
    ]),
    "CTR": (["F.5.1, F.5.2", "F.5.3, F.5.4", "F.5.5, F.5.6"], counting(0xF0, 16), [
        "874d6191b620e3261bef6864990db6ce" "9806f66b7970fdff8617187bb9fffdff"
        "5ae4df3edbd5d35e5b4f09020db03eab" "1e031dda2fbe03d1792170a0f3009cee",
        "1abc932417521ca24f2b0459fe7e6e0b" "090339ec0aa6faefd5ccc2c6f4ce8e94"
        "1e36b26bd1ebc670d1bd1d665620abf7" "4f78a7f6d29809585a97daec58c6b050",
        "601ec313775789a5b7a7f504bbf3d228" "f443e3ca4d62b59aca84e990cacaf5c5"
        "2b0930daa23de94ce87017ba2d84988d" "dfc9c58db67aada613c2dd08457941a6",
    ]),
}

# NIST SP 800-38C (2004), Appendix C: (comment, nonce, associated data, its length, plaintext, ciphertext, tag).
# The associated data is repeated up to its length: example 4 has 65,536 bytes of it.
SP_800_38C_KEY = counting(0x40, 16)
SP_800_38C = [
    ("Example 1", counting(0x10, 7), counting(0, 8), 8, counting(0x20, 4), "7162015b", "4dac255d"),
    ("Example 2", counting(0x10, 8), counting(0, 16), 16, counting(0x20, 16),
     "d2a1f0e051ea5f62081a7792073d593d", "1fc64fbfaccd"),
    ("Example 3", counting(0x10, 12), counting(0, 20), 20, counting(0x20, 24),
     "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5", "484392fbc1b09951"),
    ("Example 4", counting(0x10, 13), counting(0, 256), 65536, counting(0x20, 32),
     "69915dad1e84c6376a68c2967e4dab615ae0fd1faec44cc484828529463ccf72", "b4ac6bec93e8598e7f0dadbcea5b"),
]

# RFC 3610 (2003), Section 8: (nonce, associated data, plaintext, ciphertext, tag); 24 packets, two keys of 12 each.
RFC_3610_KEYS = [counting(0xC0, 16), "d7828d13b2b0bdc325a76236df93cc6b"]
RFC_3610 = [
    ("00000003020100a0a1a2a3a4a5", "0001020304050607", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e",
     "588c979a61c663d2f066d0c2c0f989806d5f6b61dac384", "17e8d12cfdf926e0"),
    ("00000004030201a0a1a2a3a4a5", "0001020304050607", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     "72c91a36e135f8cf291ca894085c87e3cc15c439c9e43a3b", "a091d56e10400916"),
    ("00000005040302a0a1a2a3a4a5", "0001020304050607", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "51b1e5f44a197d1da46b0f8e2d282ae871e838bb64da859657", "4adaa76fbd9fb0c5"),
    ("00000006050403a0a1a2a3a4a5", "000102030405060708090a0b", "0c0d0e0f101112131415161718191a1b1c1d1e",
     "a28c6865939a9a79faaa5c4c2a9d4a91cdac8c", "96c861b9c9e61ef1"),
    ("00000007060504a0a1a2a3a4a5", "000102030405060708090a0b", "0c0d0e0f101112131415161718191a1b1c1d1e1f",
     "dcf1fb7b5d9e23fb9d4e131253658ad86ebdca3e", "51e83f077d9c2d93"),
    ("00000008070605a0a1a2a3a4a5", "000102030405060708090a0b", "0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "6fc1b011f006568b5171a42d953d469b2570a4bd87", "405a0443ac91cb94"),
    ("00000009080706a0a1a2a3a4a5", "0001020304050607", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e",
     "0135d1b2c95f41d5d1d4fec185d166b8094e999dfed96c", "048c56602c97acbb7490"),
    ("0000000a090807a0a1a2a3a4a5", "0001020304050607", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     "7b75399ac0831dd2f0bbd75879a2fd8f6cae6b6cd9b7db24", "c17b4433f434963f34b4"),
    ("0000000b0a0908a0a1a2a3a4a5", "0001020304050607", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "82531a60cc24945a4b8279181ab5c84df21ce7f9b73f42e197", "ea9c07e56b5eb17e5f4e"),
    ("0000000c0b0a09a0a1a2a3a4a5", "000102030405060708090a0b", "0c0d0e0f101112131415161718191a1b1c1d1e",
     "07342594157785152b074098330abb141b947b", "566aa9406b4d999988dd"),
    ("0000000d0c0b0aa0a1a2a3a4a5", "000102030405060708090a0b", "0c0d0e0f101112131415161718191a1b1c1d1e1f",
     "676bb20380b0e301e8ab79590a396da78b834934", "f53aa2e9107a8b6c022c"),
    ("0000000e0d0c0ba0a1a2a3a4a5", "000102030405060708090a0b", "0c0d0e0f101112131415161718191a1b1c1d1e1f20",
     "c0ffa0d6f05bdb67f24d43a4338d2aa4bed7b20e43", "cd1aa31662e7ad65d6db"),
    ("00412b4ea9cdbe3c9696766cfa", "0be1a88bace018b1", "08e8cf97d820ea258460e96ad9cf5289054d895ceac47c",
     "4cb97f86a2a4689a877947ab8091ef5386a6ffbdd080f8", "e78cf7cb0cddd7b3"),
    ("0033568ef7b2633c9696766cfa", "63018f76dc8a1bcb", "9020ea6f91bdd85afa0039ba4baff9bfb79c7028949cd0ec",
     "4ccb1e7ca981befaa0726c55d378061298c85c92814abc33", "c52ee81d7d77c08a"),
    ("00103fe41336713c9696766cfa", "aa6cfa36cae86b40", "b916e0eacc1c00d7dcec68ec0b3bbb1a02de8a2d1aa346132e",
     "b1d23a2220ddc0ac900d9aa03c61fcf4a559a4417767089708", "a776796edb723506"),
    ("00764c63b8058e3c9696766cfa", "d0d0735c531e1becf049c244", "12daac5630efa5396f770ce1a66b21f7b2101c",
     "14d253c3967b70609b7cbb7c49916028324526", "9a6f49975bcadeaf"),
    ("00f8b678094e3b3c9696766cfa", "77b60f011c03e1525899bcae", "e88b6a46c78d63e52eb8c546efb5de6f75e9cc0d",
     "5545ff1a085ee2efbf52b2e04bee1e2336c73e3f", "762c0c7744fe7e3c"),
    ("00d560912d3f703c9696766cfa", "cd9044d2b71fdb8120ea60c0", "6435acbafb11a82e2f071d7ca4a5ebd93a803ba87f",
     "009769ecabdf48625594c59251e6035722675e04c8", "47099e5ae0704551"),
    ("0042fff8f1951c3c9696766cfa", "d85bc7e69f944fb8", "8a19b950bcf71a018e5e6701c91787659809d67dbedd18",
     "bc218daa947427b6db386a99ac1aef23ade0b52939cb6a", "637cf9bec2408897c6ba"),
    ("00920f40e56cdc3c9696766cfa", "74a0ebc9069f5b37", "1761433c37c5a35fc1f39f406302eb907c6163be38c98437",
     "5810e6fd25874022e80361a478e3e9cf484ab04f447efff6", "f0a477cc2fc9bf548944"),
    ("0027ca0c7120bc3c9696766cfa", "44a3aa3aae6475ca", "a434a8e58500c6e41530538862d686ea9e81301b5ae4226bfa",
     "f2beed7bc5098e83feb5b31608f8e29c38819a89c8e776f154", "4d4151a4ed3a8b87b9ce"),
    ("005b8ccbcd9af83c9696766cfa", "ec46bb63b02520c33c49fd70", "b96b49e21d621741632875db7f6c9243d2d7c2",
     "31d750a09da3ed7fddd49a2032aabf17ec8ebf", "7d22c8088c666be5c197"),
    ("003ebe94044b9a3c9696766cfa", "47a65ac78b3d594227e85e71", "e2fcfbb880442c731bf95167c8ffd7895e337076",
     "e882f1dbd38ce3eda7c23f04dd65071eb41342ac", "df7e00dccec7ae52987d"),
    ("008d493b30ae8b3c9696766cfa", "6e37a6ef546d955d34ab6059", "abf21c0b02feb88f856df4a37381bce3cc128517d4",
     "f32905b88a641b04b9c9ffb58cc390900f3da12ab1", "6dce9e82efa16da62059"),
]

# Rijndael with a block and a key of 128 bits is AES: (comment, key, plaintext, ciphertext).
RIJNDAEL = [
    ("block 128, key 128", "2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
     "3925841d02dc09fbdc118597196a0b32"),
]
