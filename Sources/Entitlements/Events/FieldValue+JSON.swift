package import Encodings

extension Field {
    /// Reads a value of this field's shape.
    ///
    /// - Throws: `InputFault` with the path `data.NAME`.
    func value(
        _ node: Int,
        of json: JSONText,
        _ kind: EventKind,
        subject: Subject.Kind
    ) throws(InputFault) -> FieldValue {
        switch shape(in: kind, about: subject) {
        case .identifier: .text(try text(node, json, upTo: Identifier.byteLimit))
        case .name: .text(try text(node, json, upTo: FieldShape.nameByteLimit))
        case .code: .text(try code(node, json))
        case .text: .text(try freeText(node, json))
        case .choice(let words): .text(try choice(node, json, of: words))
        case .currency: .text(try currency(node, json))
        case .instant: .instant(try .event(node, of: json, path: path))
        case .integer(let range): .integer(try integer(node, json, within: range))
        case .flag: .flag(try flag(node, json))
        case .purchaseName: .text(try purchaseName(node, json))
        case .customers:
            .texts(try texts(node, json, FieldShape.customerLimit, Identifier.byteLimit, 1))
        case .names:
            .texts(try texts(node, json, FieldShape.nameLimit, FieldShape.nameByteLimit, 0))
        case .durations: .durations(try durations(node, json))
        }
    }

    private var path: String { "data." + name }

    private func invalid(_ detail: String) -> InputFault { InputFault(.invalidValue, path, detail) }

    private func text(_ node: Int, _ json: JSONText, upTo limit: Int) throws(InputFault) -> String {
        guard let text = json.string(node), Identifier.isValid(text), text.utf8.count <= limit
        else {
            throw invalid("expected 1 to \(limit) bytes of text without control characters")
        }
        return text
    }

    private func code(_ node: Int, _ json: JSONText) throws(InputFault) -> String {
        guard let text = json.string(node), Code.isValid(text) else {
            throw invalid("expected 1 to \(Code.byteLimit) of letters, digits and \(Code.signs)")
        }
        return text
    }

    private func freeText(_ node: Int, _ json: JSONText) throws(InputFault) -> String {
        guard let text = json.string(node), text.utf8.count <= FieldShape.textByteLimit else {
            throw invalid("expected at most \(FieldShape.textByteLimit) bytes of text")
        }
        return text
    }

    private func choice(
        _ node: Int,
        _ json: JSONText,
        of words: [String]
    ) throws(InputFault) -> String {
        guard let text = json.string(node), words.holds(text) else {
            throw invalid("expected one of " + words.joined(separator: ", "))
        }
        return text
    }

    private func currency(_ node: Int, _ json: JSONText) throws(InputFault) -> String {
        guard let text = json.string(node), text.utf8.count == 3,
            text.utf8.allSatisfy({ (0x41...0x5A).contains($0) })
        else { throw invalid("expected an ISO 4217 code of three capital letters") }
        return text
    }

    private func integer(
        _ node: Int,
        _ json: JSONText,
        within range: ClosedRange<Int64>
    ) throws(InputFault) -> Int64 {
        guard let digits = json.number(node) else { throw invalid("expected an integer") }
        guard let integer = Int64(digits) else {
            throw InputFault(.outOfRange, path, "expected an integer of 64 bits")
        }
        guard range.contains(integer) else {
            throw InputFault(
                .outOfRange,
                path,
                "expected \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return integer
    }

    private func flag(_ node: Int, _ json: JSONText) throws(InputFault) -> Bool {
        guard let flag = json.bool(node) else { throw invalid("expected true or false") }
        return flag
    }

    private func purchaseName(_ node: Int, _ json: JSONText) throws(InputFault) -> String {
        guard let text = json.string(node), let name = PurchaseName(text) else {
            throw invalid("expected STORE/ORIGINAL_ID")
        }
        return name.description
    }

    private func texts(
        _ node: Int,
        _ json: JSONText,
        _ limit: Int,
        _ byteLimit: Int,
        _ least: Int
    ) throws(InputFault) -> [String] {
        guard let count = json.elementCount(of: node), (least...limit).contains(count) else {
            throw invalid("expected an array of \(least) to \(limit) texts")
        }
        var texts: [String] = []
        var element = node + 1
        for _ in 0..<count {
            texts.append(try text(element, json, upTo: byteLimit))
            element = json.next(after: element)
        }
        return texts
    }

    private func durations(
        _ node: Int,
        _ json: JSONText
    ) throws(InputFault) -> [FieldValue.Duration] {
        guard let count = json.memberCount(of: node), count <= FieldShape.durationLimit else {
            throw invalid("expected an object of at most \(FieldShape.durationLimit) stages")
        }
        var durations: [FieldValue.Duration] = []
        var members = JSONMembers(of: node, count)
        while let (name, value) = members.next(in: json) {
            durations.append(
                FieldValue.Duration(
                    name: try code(name, json),
                    milliseconds: try integer(value, json, within: 0...FieldShape.longestDuration)
                )
            )
        }
        return durations.sorted { $0.name.precedes($1.name) }
    }
}

extension Instant {
    /// Reads an instant that an event may name.
    static func event(
        _ node: Int?,
        of text: JSONText,
        path: @autoclosure () -> String
    ) throws(InputFault) -> Instant {
        guard let milliseconds = node.flatMap(text.milliseconds) else {
            throw InputFault(.invalidValue, path(), "expected RFC 3339 with an offset")
        }
        let instant = Instant(milliseconds: milliseconds)
        guard instant.isPlausible else {
            throw InputFault(.outOfRange, path(), "expected an instant in 2000 to 2200")
        }
        return instant
    }
}

extension FieldValue {
    /// The value as JSON.
    package var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .integer(let integer): .integer(integer)
        case .instant(let instant): .instant(instant)
        case .flag(let flag): .bool(flag)
        case .texts(let texts): .strings(texts)
        case .durations(let durations):
            .object(durations.map { JSONMember($0.name, .integer($0.milliseconds)) })
        }
    }
}

extension FieldValue {
    /// The text of one; nil: it is none.
    public var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The integer of one; nil: it is none.
    public var integer: Int64? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }
}
