"""The S-box of AES and its inverse as lists of gates.

Forward: the program of 113 gates of J. Boyar, R. Peralta and C. Calik (Circuit Minimization Team, SLP_AES_113). Inverse:
the program of 121 gates of J. Boyar and R. Peralta (Sinv). Inputs u0 to u7 and outputs s0 to s7, u0 the most significant
bit, as in these papers. The gates are in an order that keeps at most 25 values alive. All NOT are omitted, so the forward
circuit gives S(x) + 0x63, and the inverse circuit takes that. The round keys compensate for it.
"""

FORWARD = """
y13=u0^u6 y8=u0^u5 y14=u3^u5 y12=y13^y14 t1=u4^y12 t0=u1^u2 y1=t0^u7 y5=y1^u6 y15=t1^u5 y9=u0^u3 y20=t1^u1 y3=y5^y8
y11=y20^y9 y6=y15^u7 y16=t0^y11 t2=y12&y15 y4=y1^u3 t3=y3&y6 t4=t3^t2 y18=u0^y16 t17=t4^y20 t5=y4&u7 y2=y1^u0
y10=y15^t0 t6=t5^t2 t12=y9&y11 t15=y8&y10 t16=t15^t12 t18=t6^t16 y19=y10^y8 t22=t18^y19 y17=y10^y11 t13=y14&y17
t14=t13^t12 t21=t17^t14 t8=y5&y1 t7=y13&y16 t9=t8^t7 t19=t9^t14 y21=y13^y16 t23=t19^y21 y7=u7^y11 t10=y2&y7 t11=t10^t7
t20=t11^t16 t24=t20^y18 t25=t21^t22 t26=t21&t23 t30=t23^t24 t31=t22^t26 t32=t31&t30 t33=t32^t24 t27=t24^t26
t34=t23^t33 t35=t27^t33 t36=t24&t35 t37=t36^t34 t38=t27^t36 t28=t25&t27 t29=t28^t22 t39=t29&t38 t40=t25^t39 z13=t40&y5
z14=t29&y2 z2=t33&u7 z4=t40&y1 t43=t29^t40 z3=t43&y16 z12=t43&y13 t41=t40^t37 z1=t37&y6 z11=t33&y4 z10=t37&y3
t44=t33^t37 t42=t29^t33 z5=t29&y7 z9=t44&y12 z0=t44&y15 z8=t41&y10 z15=t42&y9 z17=t41&y8 t45=t42^t41 c12=z3^z5
z16=t45&y14 z6=t42&y11 c5=z1^z0 c1=z15^z16 c6=z3^z4 c4=z0^z2 z7=t45&y17 c2=z10^c1 c13=z13^c1 c7=z12^c4 c9=z8^c7
c11=c6^c5 c3=z9^c2 c21=c2^z11 c8=z7^c6 c10=c8^c9 s3=c3^c11 c16=z6^c8 s1=s3^c16 c17=z14^c10 c20=z15^c16 s5=c21^c17
c14=c4^c12 s4=c14^s3 c26=c17^c20 s2=c26^z17 c18=c13^c14 s0=c3^c16 s6=c10^c18 s7=z12^c18
"""

INVERSE = """
L2=u0^u2 L0=u6^u7 L1=u3^u4 Y2=u1^u3 Y0=u0^u3 Y5=u5^L2 Y4=u0^Y2 Y1=Y2^L0 Y3=Y1^L1 bh=Y4^Y5 Y7=u2^Y1 al=Y2^Y3 ah=Y0^Y1
sa0=Y1^Y3 abcd1=ah&bh sa1=Y0^Y2 sb0=Y5^Y7 Y6=u7^L1 sb1=Y4^Y6 r2=Y3&Y7 ab20=sa0^sb0 t01=Y1&Y5 ph01=t01^abcd1
ab21=sa1^sb1 ph11=ab20^abcd1 rr1=Y0&Y4 ab1=ph01^ab21 ab0=ph11^rr1 bl=Y6^Y7 abcd2=al&bl pl01=r2^abcd2 ab22=al^bl
pl11=ab22^abcd2 r1=Y2&Y6 ab2=pl11^r1 r3=sa0&sb0 wr1=sa1&sb1 qr1=wr1^r3 ab3=pl01^qr1 cp2=ab1^qr1 ab23=Y3^Y7
cp4=ab3^ab23 aa=sa0^sa1 bb=sb0^sb1 vr1=aa&bb pr1=vr1^r3 cp3=ab2^pr1 cp1=ab0^pr1 i11=cp2&cp3 i1=cp3^cp4 i12=i1&i11
i2=cp3&cp1 i13=i1^i2 d3=i12^i13 i3=cp2^i2 i7=i3&i1 d2=cp4^i7 i5=cp4^i2 i8=cp1&cp4 i4=cp1^cp2 i6=i5&i4 d0=cp2^i6
i9=i4&i8 i10=i4^i2 d1=i9^i10 r4=d1&Y6 r7=d3&Y0 r9=d1&Y2 r5=d0&Y7 rr2=d3&Y4 dl=d0^d1 abcd6=dl&al abcd4=dl&bl t02=d2&Y5
r10=d0&Y3 r8=d2&Y1 sd0=d0^d2 dh=d2^d3 sd1=d1^d3 abcd3=dh&bh abcd5=dh&ah r6=sd0&sb0 r11=sd0&sa0 pl02=r5^abcd4
pl03=r10^abcd6 wr3=sd1&sa1 ph03=r8^abcd5 ph02=t02^abcd3 dd=sd0^sd1 qr3=wr3^r11 ph12=rr2^abcd3 pl13=r9^abcd6
wr2=sd1&sb1 qr2=wr2^r6 vr3=dd&aa ph13=r7^abcd5 pr3=vr3^r11 vr2=dd&bb pr2=vr2^r6 p7=pl03^qr3 pl12=r4^abcd4 p3=pl02^qr2
s7=ph03^qr3 p2=pl12^pr2 p6=pl13^pr3 s0=p3^p6 p1=ph02^qr2 p0=ph12^pr2 p4=ph13^pr3 X16=p1^s7 X11=p0^p2 s5=s0^X11
X18=p0^p4 s3=p1^p6 X19=s5^X16 s4=X18^X19 X13=p4^p7 X14=X11^X13 s2=X14^X16 s1=s3^X14 s6=p2^p6
"""


def gates(text):
    """(output, operation, input, input) of every gate, in order."""
    result = []
    for gate in text.split():
        name, sum_ = gate.split("=")
        operation = "^" if "^" in sum_ else "&"
        a, b = sum_.split(operation)
        result.append((name, operation, a, b))
    return result


def run(text, byte):
    """Evaluates a circuit for a byte."""
    values = {f"u{i}": byte >> (7 - i) & 1 for i in range(8)}
    for name, operation, a, b in gates(text):
        values[name] = values[a] ^ values[b] if operation == "^" else values[a] & values[b]
    return sum(values[f"s{i}"] << (7 - i) for i in range(8))


def sbox():
    """The S-box from its definition in FIPS 197."""
    log, power, x = {}, [], 1
    for i in range(255):
        log[x] = i
        power.append(x)
        x ^= (x << 1) ^ (0x11B if x & 0x80 else 0)
    table = []
    for byte in range(256):
        inverse = power[-log[byte] % 255] if byte else 0
        out = 0x63
        for shift in range(5):
            out ^= (inverse << shift | inverse >> (8 - shift)) & 0xFF
        table.append(out)
    return table


if __name__ == "__main__":
    s = sbox()
    assert len(gates(FORWARD)) == 113 and len(gates(INVERSE)) == 121
    assert all(run(FORWARD, x) ^ 0x63 == s[x] for x in range(256))
    assert all(run(INVERSE, s[x] ^ 0x63) == x for x in range(256))
