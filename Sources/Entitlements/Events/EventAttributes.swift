package import Encodings

/// The attributes of an event that is read: where each of the list stands in its text.
package struct EventAttributes {
    private var found: [(attribute: EventAttribute, node: Int)] = []

    static let versions = WordList([EventAttribute.specificationVersion])
    private static let all = EventAttribute.allCases
    private static let names = WordList(all.map(\.rawValue))

    /// Finds the attributes.
    ///
    /// - Throws: `InputFault` for what is none that an event may have.
    package init(of text: JSONText) throws(InputFault) {
        guard let count = text.memberCount(of: JSONText.root) else {
            throw InputFault(.malformed, "", "expected a JSON object")
        }
        found.reserveCapacity(count)
        var members = JSONMembers(of: JSONText.root, count)
        while let (name, value) = members.next(in: text) {
            guard let index = text.index(name, in: Self.names), Self.all[index].isRead else {
                throw InputFault(
                    .unknownField,
                    text.string(name) ?? "",
                    "not an attribute of an event"
                )
            }
            found.append((Self.all[index], value))
        }
    }

    /// Where an attribute stands; nil: it is absent.
    package subscript(attribute: EventAttribute) -> Int? {
        for place in found where place.attribute == attribute { return place.node }
        return nil
    }

    /// Where an attribute stands; nil where it is absent and may be.
    func value(of attribute: EventAttribute) throws(InputFault) -> Int? {
        let node = self[attribute]
        guard node != nil || !attribute.isRequired else {
            throw InputFault(.missingField, attribute.rawValue, "required")
        }
        return node
    }

    func identifier(
        _ attribute: EventAttribute,
        in text: JSONText
    ) throws(InputFault) -> String {
        guard let id = try value(of: attribute).flatMap(text.string), Identifier.isValid(id) else {
            throw InputFault(
                .invalidValue,
                attribute.rawValue,
                "expected 1 to \(Identifier.byteLimit) bytes of text without control characters"
            )
        }
        return id
    }

    func kind(in text: JSONText) throws(InputFault) -> EventKind {
        guard let node = try value(of: .type), let kind = EventKind(node, of: text) else {
            throw InputFault(.unknownType, "type", "not a type that this version knows")
        }
        return kind
    }

    func subject(of kind: EventKind, in text: JSONText) throws(InputFault) -> Subject {
        guard let name = try value(of: .subject).flatMap(text.string), let subject = Subject(name)
        else {
            throw InputFault(
                .invalidValue,
                "subject",
                "expected purchase/STORE/ID, customer/ID, store/STORE or catalog"
            )
        }
        guard kind.maySpeak(about: subject.kind) else {
            let expected = kind.shape.subjects.map(\.rawValue).joined(separator: " or ")
            throw InputFault(.wrongSubject, "subject", "\(kind.name) speaks about a \(expected)")
        }
        return subject
    }

    func environment(in text: JSONText) throws(InputFault) -> StoreEnvironment {
        guard let node = try value(of: .environment) else { return .production }
        guard let environment = StoreEnvironment(node, of: text) else {
            throw InputFault(
                .invalidValue,
                "environment",
                "expected production, sandbox or local"
            )
        }
        return environment
    }
}
