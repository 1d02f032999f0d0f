/// A strict reader of Prometheus' text format 0.0.4
/// (prometheus.io/docs/instrumenting/exposition_formats).
struct PrometheusReader {
    /// A line that breaks the format, and how.
    struct Fault: Error, CustomStringConvertible {
        var line: Int
        var reason: String
        var description: String { "line \(line): \(reason)" }
    }

    struct Sample: Sendable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    struct Family: Sendable {
        var name: String
        var kind: String
        var samples: [Sample] = []
    }

    private(set) var families: [Family] = []
    private var line = 0
    private var help: String?

    init(_ text: String) throws(Fault) {
        guard text.hasSuffix("\n") else { throw fault("the last line has no end") }
        for row in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            line += 1
            try read(row)
        }
        for family in families { try check(family) }
    }

    private func fault(_ reason: String) -> Fault { Fault(line: line, reason: reason) }

    private mutating func read(_ row: Substring) throws(Fault) {
        if row.hasPrefix("# HELP ") {
            let words = row.dropFirst(7).split(separator: " ", maxSplits: 1)
            guard words.count == 2, Self.isName(words[0]) else { throw fault("HELP") }
            help = String(words[0])
        } else if row.hasPrefix("# TYPE ") {
            let words = row.dropFirst(7).split(separator: " ")
            let kinds: Set<Substring> = ["counter", "gauge", "histogram", "summary", "untyped"]
            guard words.count == 2, kinds.contains(words[1]), help == String(words[0]) else {
                throw fault("TYPE")
            }
            guard !families.contains(where: { $0.name == words[0] }) else {
                throw fault("a family twice")
            }
            families.append(Family(name: String(words[0]), kind: String(words[1])))
        } else {
            try readSample(row)
        }
    }

    private mutating func readSample(_ row: Substring) throws(Fault) {
        let name = row.prefix { $0 != "{" && $0 != " " }
        guard Self.isName(name), let family = families.last else { throw fault("a name") }
        let endings = family.kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard endings.contains(where: { name == family.name + $0 }) else {
            throw fault("\(name) does not belong to \(family.name)")
        }
        var rest = row.dropFirst(name.count)
        let labels = try readLabels(&rest)
        guard rest.first == " ", let value = Double(rest.dropFirst()), !value.isNaN else {
            throw fault("a value")
        }
        let isKnown = family.samples.contains { $0.name == name && $0.labels == labels }
        guard !isKnown else { throw fault("a sample twice") }
        families[families.count - 1].samples.append(
            Sample(name: String(name), labels: labels, value: value)
        )
    }

    private func readLabels(_ rest: inout Substring) throws(Fault) -> [String: String] {
        var labels: [String: String] = [:]
        guard rest.first == "{" else { return labels }
        rest.removeFirst()
        while rest.first != "}" {
            let name = rest.prefix { $0 != "=" }
            rest = rest.dropFirst(name.count)
            guard Self.isName(name), rest.hasPrefix("=\"") else { throw fault("a label") }
            rest = rest.dropFirst(2)
            var value = ""
            while let character = rest.popFirst(), character != "\"" {
                guard character == "\\" else {
                    value.append(character)
                    continue
                }
                switch rest.popFirst() {
                case "\\": value.append("\\")
                case "\"": value.append("\"")
                case "n": value.append("\n")
                default: throw fault("an escape")
                }
            }
            guard labels.updateValue(value, forKey: String(name)) == nil else {
                throw fault("a label twice")
            }
            if rest.first == "," { rest.removeFirst() }
        }
        rest.removeFirst()
        return labels
    }

    /// Buckets do not fall, and the last is the count.
    private func check(_ family: Family) throws(Fault) {
        guard family.kind == "histogram" else { return }
        var open: (labels: [String: String], total: Double)?
        for sample in family.samples {
            var labels = sample.labels
            let bound = labels.removeValue(forKey: "le")
            if sample.name.hasSuffix("_bucket") {
                guard bound != nil else { throw fault("a bucket without a bound") }
                if let open, open.labels == labels, open.total > sample.value {
                    throw fault("\(family.name): buckets fall")
                }
                open = (labels, sample.value)
            } else if sample.name.hasSuffix("_count"), open?.total != sample.value {
                throw fault("\(family.name): the last bucket is not the count")
            }
        }
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_")
        }
    }
}
