/// Where the values of a JSON text stand in it, each before those that it holds.
///
/// The text is handed to each call, because a stored span would make the places non-escapable.
struct JSONPlaces: Sendable {
    /// One value, or the name of a member.
    private struct Place {
        var kind: Kind
        /// Where its bytes begin; of an array or an object, how many elements or members it has.
        var start: UInt32 = 0
        /// Where its bytes end; of an array or an object, the number of what follows it.
        var end: UInt32 = 0
    }

    enum Kind {
        case null, no, yes, number, array, object
        /// A string as it stands in the text.
        case string
        /// A string that stands, without its escapes, in `unescaped`.
        case unescaped
    }

    private var places: [Place] = []
    private var unescaped: [UInt8] = []

    /// More bytes than this are not read.
    static let byteLimit = Int(UInt32.max)

    /// Makes room for a usual text.
    init() { places.reserveCapacity(64) }

    /// How many places there are: the number that the next one gets.
    var count: Int { places.count }

    // MARK: Filling

    /// Adds a value without bytes.
    mutating func append(_ kind: Kind) { places.append(Place(kind: kind)) }

    /// Adds a value that stands in a range of the text.
    mutating func append(_ kind: Kind, _ range: Range<Int>) {
        places.append(
            Place(kind: kind, start: UInt32(range.lowerBound), end: UInt32(range.upperBound))
        )
    }

    /// Adds a string that does not stand in the text as it is.
    mutating func append(unescaped text: [UInt8]) {
        let start = unescaped.count
        unescaped += text
        append(.unescaped, start..<unescaped.count)
    }

    /// Ends an array or an object: what was added since its place stands in it.
    mutating func close(_ node: Int, count: Int) {
        places[node].start = UInt32(count)
        places[node].end = UInt32(places.count)
    }

    /// Takes away the places from one on.
    mutating func drop(from node: Int) { places.removeSubrange(node...) }

    /// Adds a value and all that stands in it; its texts go to the end of `bytes`.
    mutating func append(_ value: JSONValue, _ bytes: inout [UInt8]) {
        let node = count
        switch value {
        case .null: append(.null)
        case .bool(let value): append(value ? .yes : .no)
        case .string(let text): append(.string, text, &bytes)
        case .number(let digits): append(.number, digits, &bytes)
        case .array(let elements):
            append(.array)
            for element in elements { append(element, &bytes) }
            close(node, count: elements.count)
        case .object(let members):
            append(.object)
            for member in members {
                append(.string, member.name, &bytes)
                append(member.value, &bytes)
            }
            close(node, count: members.count)
        }
    }

    private mutating func append(_ kind: Kind, _ text: String, _ bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        append(kind, start..<bytes.count)
    }

    // MARK: Reading

    /// The number behind a value and all that stands in it.
    func next(after node: Int) -> Int {
        switch places[node].kind {
        case .array, .object: Int(places[node].end)
        default: node + 1
        }
    }

    /// How many elements or members a value of a kind has; nil: it is of another kind.
    func count(of node: Int, _ kind: Kind) -> Int? {
        places[node].kind == kind ? Int(places[node].start) : nil
    }

    /// A truth value; nil: it is none.
    func bool(_ node: Int) -> Bool? {
        switch places[node].kind {
        case .yes: true
        case .no: false
        default: nil
        }
    }

    /// Lends the bytes of a string; nil: it is none.
    func lend<Outcome>(
        _ node: Int,
        _ bytes: Span<UInt8>,
        _ body: (Span<UInt8>) -> Outcome
    ) -> Outcome? {
        let place = places[node]
        let range = Int(place.start)..<Int(place.end)
        return switch place.kind {
        case .string: body(bytes.extracting(range))
        case .unescaped: body(unescaped.span.extracting(range))
        default: nil
        }
    }

    /// The text of a string; nil: it is none.
    func string(_ node: Int, _ bytes: Span<UInt8>) -> String? {
        lend(node, bytes) { String(checked: $0) }
    }

    /// The digits of a number; nil: it is none.
    func number(_ node: Int, _ bytes: Span<UInt8>) -> String? {
        let place = places[node]
        guard place.kind == .number else { return nil }
        return String(checked: bytes.extracting(Int(place.start)..<Int(place.end)))
    }

    /// Makes a value; `node` is then the number behind it.
    func value(_ node: inout Int, _ bytes: Span<UInt8>) -> JSONValue {
        let own = node
        node += 1
        switch places[own].kind {
        case .null: return .null
        case .no: return .bool(false)
        case .yes: return .bool(true)
        case .number: return .number(number(own, bytes) ?? "")
        case .string, .unescaped: return .string(string(own, bytes) ?? "")
        case .array:
            var elements: [JSONValue] = []
            elements.reserveCapacity(Int(places[own].start))
            for _ in 0..<places[own].start { elements.append(value(&node, bytes)) }
            return .array(elements)
        case .object:
            var members: [JSONMember] = []
            members.reserveCapacity(Int(places[own].start))
            for _ in 0..<places[own].start {
                let name = string(node, bytes) ?? ""
                node += 1
                members.append(JSONMember(name, value(&node, bytes)))
            }
            return .object(members)
        }
    }

    /// Bytes of a string.
    private func byteCount(of node: Int) -> UInt32 { places[node].end - places[node].start }

    /// Whether a string among the names of an object's members has the bytes of another.
    func isSame(_ node: Int, as other: Int, _ bytes: Span<UInt8>) -> Bool {
        guard byteCount(of: node) == byteCount(of: other) else { return false }
        return lend(node, bytes) { name in
            lend(other, bytes) { $0.holdsSame(as: name) } ?? false
        } ?? false
    }
}

extension String {
    /// The text of bytes that were found to be UTF-8.
    fileprivate init(checked bytes: Span<UInt8>) {
        do {
            self.init(copying: try UTF8Span(validating: bytes))
        } catch {
            preconditionFailure("texts are checked where they are read")
        }
    }
}
