/// The parameters of a query string, decoded strictly.
package struct Query: Sendable {
    /// What was sent, in its order.
    package let pairs: [(name: String, value: String)]

    /// Parameters that a query may have.
    package static let countLimit = 32
    /// Bytes of a value; what a parameter takes has at most a few hundred.
    package static let valueByteLimit = 4096

    /// Reads `name=value` pairs (WHATWG URL).
    ///
    /// `isForm`: whether a form wrote them, so that `+` is a space (`application/x-www-form-urlencoded`); else
    /// it is itself: no parameter of the interface holds a space. A parameter that the route does not know, a repeated one, and text that is not UTF-8 are
    /// refused.
    package init(
        _ text: String?,
        known: [String],
        isForm: Bool = false,
        valueByteLimit: Int = Query.valueByteLimit
    ) throws(Problem) {
        guard let text else {
            pairs = []
            return
        }
        var values: [(name: String, value: String)] = []
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            guard values.count < Self.countLimit else {
                throw Problem(.invalidRequest, "too many parameters")
            }
            let parts = pair.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard let name = PercentCoding.decode(parts[0], isForm: isForm),
                let value = parts.count == 2
                    ? PercentCoding.decode(parts[1], isForm: isForm) : ""
            else { throw Problem(.invalidRequest, "the query is not percent-encoded UTF-8") }
            guard value.utf8.count <= valueByteLimit else {
                throw Problem(
                    .invalidValue,
                    "a parameter has at most \(valueByteLimit) bytes",
                    path: known.contains(name) ? name : nil
                )
            }
            guard known.contains(name) else {
                throw Problem(
                    .unknownParameter,
                    known.isEmpty
                        ? "this call takes no parameters"
                        : "this call takes: " + known.joined(separator: ", ")
                )
            }
            guard !values.contains(where: { $0.name == name }) else {
                throw Problem(.invalidRequest, "a parameter is given once", path: name)
            }
            values.append((name, value))
        }
        pairs = values
    }

    private init(pairs: [(name: String, value: String)]) { self.pairs = pairs }

    /// The same without what is empty: a form sends every field that it has.
    package var filled: Query { Query(pairs: pairs.filter { !$0.value.isEmpty }) }

    /// A parameter's value; nil: it was not sent.
    package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }
}

/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentCoding {
    /// The text of encoded bytes; nil if an escape is broken or the bytes are not UTF-8.
    ///
    /// `isForm`: whether `+` is a space.
    package static func decode(
        _ bytes: some Collection<UInt8>,
        isForm: Bool = false
    ) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(isForm && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            guard let high = iterator.next().flatMap(digit),
                let low = iterator.next().flatMap(digit)
            else { return nil }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
