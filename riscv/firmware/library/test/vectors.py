"""Writes the vectors of vectors/ as C for the test program: python3 vectors.py FOLDER."""

import json
import sys
from pathlib import Path


def c_bytes(text):
    return "(const uint8_t *)\"" + "".join(f"\\x{text[i:i + 2]}" for i in range(0, len(text), 2)) + "\""


print("/* Made by vectors.py. */")
print("static const struct vector vectors[] = {")
for file in sorted((Path(sys.argv[1]) / "pipo").glob("*.json")):
    for group in json.loads(file.read_text())["testGroups"]:
        for test in group["tests"]:
            refused = test["result"] == "invalid"
            assert not refused or test["flags"] == ["CounterExhausted"], test
            mode = {"PipoEcb": "ECB", "PipoCbc": "CBC", "PipoCtr": "CTR"}[group["type"]]
            print(f'    {{ "{file.stem} {test["tcId"]}", {mode}, {group["keySize"]}, {len(test["msg"]) // 2}, '
                  f'{c_bytes(test["key"])}, {c_bytes(test.get("iv", ""))}, {c_bytes(test["msg"])}, {c_bytes(test["ct"])}, {int(refused)} }},')
print("};")
