import Entitlements
import StoreSimulator
import SwiftASN1
import X509

/// An answer on revocation (RFC 6960, section 4.2.1), written byte by byte and signed by the
/// intermediate itself.
enum OCSPAnswer {
    enum Status {
        case good, revoked
    }

    private struct Unreadable: Error {}

    /// Answers a request; `day` is the day of the answer, which holds a year.
    static func bytes(
        to request: [UInt8],
        _ status: Status,
        by authority: SigningAuthority,
        day: String = "20270101"
    ) throws -> [UInt8] {
        let intermediate = try Certificate(derEncoded: authority.certificates[1])
        var name = DER.Serializer()
        try name.serialize(intermediate.subject)
        let state =
            status == .good ? [0x80, 0x00] : element(0xA1, time("20260601"))
        let single = element(
            0x30,
            try certificateID(in: request) + state + time(day) + element(0xA0, time("20280101"))
        )
        let data = element(
            0x30,
            element(0xA1, name.serializedBytes) + time(day) + element(0x30, single)
        )
        // ecdsa-with-SHA384
        let algorithm = element(0x30, [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03])
        let signature = element(0x03, [0] + (try authority.signAsIntermediate(data)))
        let basic = element(0x30, data + algorithm + signature)
        // id-pkix-ocsp-basic
        let type: [UInt8] = [0x06, 9, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x01]
        let body = element(0xA0, element(0x30, type + element(0x04, basic)))
        return element(0x30, [0x0A, 1, 0] + body)
    }

    /// `GeneralizedTime` of a day's midnight.
    private static func time(_ day: String) -> [UInt8] {
        element(0x18, Array("\(day)000000Z".utf8))
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)]
            : count < 0x100
                ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [tag] + length + content
    }

    /// The first certificate that a request names: always the first sequence of sequences.
    private static func certificateID(in request: [UInt8]) throws -> [UInt8] {
        var node = try DER.parse(request)
        for _ in 0..<4 {
            guard case .constructed(let children) = node.content,
                let next = children.first(where: { $0.identifier == .sequence })
            else { throw Unreadable() }
            node = next
        }
        return Array(node.encodedBytes)
    }
}
