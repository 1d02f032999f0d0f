import Encodings
import Entitlements
import ModelSupport

/// Changes JSON texts so that they stay JSON: a byte changed at random hardly ever leads behind
/// the parser.
struct JSONMutation: InputMutation {
    private let names: [String]
    private let values: [JSONValue]
    /// What stands under a name in the samples.
    private let valuesByName: [String: [JSONValue]]
    /// Which names members have in objects under a name; empty: on top.
    private let namesByName: [String: [String]]

    /// Numbers and texts at the ends of what decoders take.
    private static let edges: [JSONValue] =
        [
            "0", "-0", "1", "2", "3", "4", "5", "-1", "0.5", "1e3", "1e-3", "1E400", "2147483648",
            "1000000000000",
            "9223372036854775807", "-9223372036854775808", "9223372036854775808",
            "946684800000", "7258118400000", "1800000000000.25",
        ].map { .number($0) } + [
            .null, .bool(true), .bool(false), .array([]), .object([]), "", "\u{0}", "\u{1F600}",
            "e\u{301}", .string(String(repeating: "x", count: 257)),
            .string(String(repeating: "y", count: 1025)),
        ]

    /// Takes names and values from samples, and from an object that gives values for names.
    init(wordsOf samples: [JSONValue], and words: JSONValue = .object([])) {
        var names = Set<String>()
        var values = Set<JSONValue>()
        var valuesByName: [String: Set<JSONValue>] = [:]
        var namesByName: [String: Set<String>] = [:]
        for sample in samples + [words] {
            sample.visit { name, value in
                for member in value.members ?? [] {
                    names.insert(member.name)
                    namesByName[name ?? "", default: []].insert(member.name)
                }
                guard value.array == nil, value.members == nil else { return }
                values.insert(value)
                if let name { valuesByName[name, default: []].insert(value) }
            }
        }
        // Sorted, so that one seed makes one run.
        self.names = names.isEmpty ? ["name"] : names.sorted()
        self.values = Self.sorted(values) + Self.edges
        self.valuesByName = valuesByName.mapValues(Self.sorted)
        self.namesByName = namesByName.mapValues { $0.sorted() }
    }

    private static func sorted(_ values: Set<JSONValue>) -> [JSONValue] {
        values.sorted { $0.description < $1.description }
    }

    /// A text with some changes; a fifth of all are libFuzzer's own, of bytes.
    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8] {
        guard !generator.chance(20), var json = try? JSONValue(parsing: input) else {
            return LibFuzzer.mutated(input, upTo: limit)
        }
        for _ in 0..<generator.pick([1, 1, 1, 2]) { json = changed(json, using: &generator) }
        let text = Array(json.description.utf8)
        return text.count <= limit ? text : LibFuzzer.mutated(input, upTo: limit)
    }

    /// One place of a value changed.
    private func changed(_ json: JSONValue, using generator: inout SplitMix64) -> JSONValue {
        var nodes: [(name: String?, value: JSONValue)] = []
        json.visit { nodes.append(($0, $1)) }
        var place = Int.random(in: nodes.indices, using: &generator)
        let name = nodes[place].name
        let donor =
            generator.chance(10)
            ? generator.pick(nodes).value : value(under: name, using: &generator)
        return json.replacing(&place) { edited($0, under: name, donor, using: &generator) }
    }

    /// A word, half the time one that has stood under the name.
    private func value(under name: String?, using generator: inout SplitMix64) -> JSONValue {
        let fitting = name.flatMap { valuesByName[$0] } ?? []
        return generator.pick(!fitting.isEmpty && generator.chance(50) ? fitting : values)
    }

    private func edited(
        _ node: JSONValue,
        under name: String?,
        _ donor: JSONValue,
        using generator: inout SplitMix64
    ) -> JSONValue {
        switch node {
        case .object(let members):
            .object(edited(members, under: name, donor, using: &generator))
        case .array(let elements): .array(edited(elements, donor, using: &generator))
        case .string(let text) where generator.chance(40):
            .string(
                String(
                    decoding: LibFuzzer.mutated(Array(text.utf8), upTo: text.utf8.count + 8),
                    as: UTF8.self
                )
            )
        case .number(let text) where generator.chance(50):
            if let integer = Int64(text) {
                .integer(integer &+ generator.pick([-86_400_000, -1000, -1, 1, 1000, 86_400_000]))
            } else {
                donor
            }
        default: donor
        }
    }

    private func edited(
        _ members: [JSONMember],
        under outerName: String?,
        _ donor: JSONValue,
        using generator: inout SplitMix64
    ) -> [JSONMember] {
        var members = members
        let fitting = namesByName[outerName ?? ""] ?? []
        let name = generator.pick(!fitting.isEmpty && generator.chance(70) ? fitting : names)
        guard !members.isEmpty, !generator.chance(30) else {
            let value = value(under: name, using: &generator)
            return members.filter { $0.name != name } + [JSONMember(name, value)]
        }
        let index = Int.random(in: members.indices, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: members.remove(at: index)
        case 1: members[index].name = name
        case 2: members.swapAt(index, Int.random(in: members.indices, using: &generator))
        default: members[index].value = donor
        }
        return members
    }

    private func edited(
        _ elements: [JSONValue],
        _ donor: JSONValue,
        using generator: inout SplitMix64
    ) -> [JSONValue] {
        var elements = elements
        guard !elements.isEmpty, !generator.chance(30) else { return elements + [donor] }
        let index = Int.random(in: elements.indices, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: elements.remove(at: index)
        case 1: elements.append(elements[index])
        case 2: elements.swapAt(index, Int.random(in: elements.indices, using: &generator))
        default: elements[index] = donor
        }
        return elements
    }
}

extension JSONValue {
    /// Calls for this value and all in it, each before its parts, with the nearest name above it.
    fileprivate func visit(_ name: String? = nil, _ call: (String?, JSONValue) -> Void) {
        call(name, self)
        for element in array ?? [] { element.visit(name, call) }
        for member in members ?? [] { member.value.visit(member.name, call) }
    }

    /// The value with one place of it replaced, counted in the order of `visit`.
    fileprivate func replacing(
        _ place: inout Int,
        _ replacement: (JSONValue) -> JSONValue
    ) -> JSONValue {
        place -= 1
        if place == -1 { return replacement(self) }
        guard place >= 0 else { return self }
        switch self {
        case .array(let elements):
            return .array(elements.map { $0.replacing(&place, replacement) })
        case .object(let members):
            return .object(
                members.map { JSONMember($0.name, $0.value.replacing(&place, replacement)) }
            )
        default: return self
        }
    }
}
