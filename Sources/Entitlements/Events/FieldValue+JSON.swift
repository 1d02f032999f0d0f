package import Encodings

extension Field {
    /// Reads a value of this field's shape.
    ///
    /// - Throws: `InputFault` with the path `data.NAME`.
    func value(from json: JSONValue, subject: Subject.Kind) throws(InputFault) -> FieldValue {
        switch shape(about: subject) {
        case .identifier: .text(try text(json, upTo: Identifier.byteLimit))
        case .name: .text(try text(json, upTo: FieldShape.nameByteLimit))
        case .code: .text(try code(json))
        case .text: .text(try freeText(json))
        case .choice(let words): .text(try choice(json, of: words))
        case .currency: .text(try currency(json))
        case .instant: .instant(try instant(json))
        case .integer(let range): .integer(try integer(json, within: range))
        case .flag: .flag(try flag(json))
        case .purchaseName: .text(try purchaseName(json))
        case .customers: .texts(try texts(json, FieldShape.customerLimit, Identifier.byteLimit, 1))
        case .names: .texts(try texts(json, FieldShape.nameLimit, FieldShape.nameByteLimit, 0))
        case .durations: .durations(try durations(json))
        }
    }

    private var path: String { "data." + name }

    private func invalid(_ detail: String) -> InputFault { InputFault(.invalidValue, path, detail) }

    private func text(_ json: JSONValue, upTo limit: Int) throws(InputFault) -> String {
        guard let text = json.string, Identifier.isValid(text), text.utf8.count <= limit else {
            throw invalid("expected 1 to \(limit) bytes of text without control characters")
        }
        return text
    }

    private func code(_ json: JSONValue) throws(InputFault) -> String {
        guard let text = json.string, Code.isValid(text) else {
            throw invalid("expected 1 to \(Code.byteLimit) of letters, digits and \(Code.signs)")
        }
        return text
    }

    private func freeText(_ json: JSONValue) throws(InputFault) -> String {
        guard let text = json.string, text.utf8.count <= FieldShape.textByteLimit else {
            throw invalid("expected at most \(FieldShape.textByteLimit) bytes of text")
        }
        return text
    }

    private func choice(_ json: JSONValue, of words: [String]) throws(InputFault) -> String {
        guard let text = json.string, words.contains(text) else {
            throw invalid("expected one of " + words.joined(separator: ", "))
        }
        return text
    }

    private func currency(_ json: JSONValue) throws(InputFault) -> String {
        guard let text = json.string, text.utf8.count == 3,
            text.utf8.allSatisfy({ (0x41...0x5A).contains($0) })
        else { throw invalid("expected an ISO 4217 code of three capital letters") }
        return text
    }

    private func instant(_ json: JSONValue) throws(InputFault) -> Instant {
        try .event(json, path: path)
    }

    private func integer(
        _ json: JSONValue,
        within range: ClosedRange<Int64>
    ) throws(InputFault) -> Int64 {
        guard case .number(let digits) = json, let integer = Int64(digits) else {
            if case .number = json {
                throw InputFault(.outOfRange, path, "expected an integer of 64 bits")
            }
            throw invalid("expected an integer")
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

    private func flag(_ json: JSONValue) throws(InputFault) -> Bool {
        guard let flag = json.bool else { throw invalid("expected true or false") }
        return flag
    }

    private func purchaseName(_ json: JSONValue) throws(InputFault) -> String {
        guard let text = json.string, let name = PurchaseName(text) else {
            throw invalid("expected STORE/ORIGINAL_ID")
        }
        return name.description
    }

    private func texts(
        _ json: JSONValue,
        _ limit: Int,
        _ byteLimit: Int,
        _ least: Int
    ) throws(InputFault) -> [String] {
        guard let elements = json.array, (least...limit).contains(elements.count) else {
            throw invalid("expected an array of \(least) to \(limit) texts")
        }
        var texts: [String] = []
        for element in elements { texts.append(try text(element, upTo: byteLimit)) }
        return texts
    }

    private func durations(_ json: JSONValue) throws(InputFault) -> [FieldValue.Duration] {
        guard let members = json.members, members.count <= FieldShape.durationLimit else {
            throw invalid("expected an object of at most \(FieldShape.durationLimit) stages")
        }
        var durations: [FieldValue.Duration] = []
        for member in members {
            _ = try code(.string(member.name))
            durations.append(
                FieldValue.Duration(
                    name: member.name,
                    milliseconds: try integer(
                        member.value,
                        within: 0...FieldShape.longestDuration
                    )
                )
            )
        }
        return durations.sorted { $0.name.precedes($1.name) }
    }
}

extension Instant {
    /// Reads an instant that an event may name.
    static func event(_ json: JSONValue?, path: String) throws(InputFault) -> Instant {
        guard let text = json?.string, let instant = Instant(rfc3339: text) else {
            throw InputFault(.invalidValue, path, "expected RFC 3339 with an offset")
        }
        guard instant.isPlausible else {
            throw InputFault(.outOfRange, path, "expected an instant in 2000 to 2200")
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
