import Encodings
import Entitlements

/// Members of a store's JSON object, read on demand: what is not known yet survives in the evidence.
protocol PayloadFields {
    /// A member; JSON's `null` counts as absent.
    subscript(_ name: String) -> JSONValue? { get }
}

extension PayloadFields {
    /// A text; nil if absent or of another shape.
    func text(_ name: String) -> String? { self[name]?.string }

    /// A text that can serve as an id; nil if absent or not valid.
    func identifier(_ name: String) -> String? {
        guard let text = text(name), Identifier.isValid(text) else { return nil }
        return text
    }

    /// A text that fits a code field; nil if absent or not valid.
    func code(_ name: String) -> String? {
        guard let text = text(name), Code.isValid(text) else { return nil }
        return text
    }

    /// A text that fits a name field; nil if absent or not valid.
    func name(_ name: String) -> String? {
        guard let text = identifier(name), text.utf8.count <= FieldShape.nameByteLimit else {
            return nil
        }
        return text
    }

    /// A word of the store's in lower snake case; nil if absent.
    func word(_ name: String) -> String? {
        guard let text = text(name), !text.isEmpty else { return nil }
        return SignalName.of(text)
    }

    /// What a signal cannot do without.
    func required<Value>(_ value: Value?, _ name: String) throws(InputFault) -> Value {
        guard let value else { throw InputFault(unusable: "\(name) is missing or not valid") }
        return value
    }
}

extension InputFault {
    /// Why a signal changes nothing although its type is known: it is noted instead (Stores, rule 6).
    ///
    /// `detail`: which field, and what about it; holds no value of the signal.
    init(unusable detail: String) { self.init(.invalidValue, "", detail) }
}
