import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerOperations
import LedgerServer

extension CatalogCommand {
    struct Gates: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "gates",
            abstract: "Shows what opens which gate: of the catalog in force, or of a file.",
            discussion: HelpText.discussion(examples: "entitle catalog gates --file catalog.json")
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var server: ServerOptions
        @OptionGroup var point: PointOptions
        @Option(help: "The gates of this catalog document, or - for standard input.")
        var file: String?
        @Option(help: "Only features of this level.") var level: String?
        @Option(help: "Only this feature.") var feature: String?
        @Option(help: "Whose experiments count (default: nobody's).") var customer: String?

        func run() throws {
            let map = try map()
            if let level, !map.tiers.contains(level) {
                throw OperationFault(
                    .unknownTier,
                    "the catalog has no such tier",
                    place: "--level",
                    hint: "one of " + map.tiers.joined(separator: ", ")
                )
            }
            if let feature, map.features[feature] == nil {
                throw OperationFault(unknownFeature: feature, among: map.features.keys.map(\.text))
            }
            if options.json { return Terminal.line(map.json) }
            let listed =
                level.map { map.features(ofLevel: $0) } ?? map.features.keys.sorted().map(\.text)
            for id in listed where feature.map({ $0.isSame(as: id) }) ?? true {
                guard let gate = map.features[id] else { continue }
                let sold = gate.products.isEmpty ? "-" : gate.products.joined(separator: " ")
                Terminal.line("\(id)  \(gate.level)  \(sold)")
            }
        }

        private func map() throws -> GateMap {
            if let file {
                try server.refuse()
                return GateMap(try CatalogFile.validated(CatalogFile.read(file)))
            }
            let point = try point.point()
            let viewer = try customer.map {
                CatalogViewer(
                    customer: try CustomerArgument.checked($0),
                    environment: try options.environment()
                )
            }
            if let client = try server.named() {
                var query = point.parameters("at", "known", "knownSequence")
                query.append(("environment", try options.environment().name))
                if let customer { query.append(("customer", customer)) }
                return try CatalogCommand.asking {
                    try client.read(.get(["v1", "catalog", "gates"], query)) {
                        // What cannot be read is told of, and not why.
                        try? GateMap(json: $0)
                    }
                }
            }
            let map = try options.withLedger(writing: false) {
                try $0.questions.gateMap(at: point, for: viewer)
            }
            guard let map else {
                throw CatalogCommand.noCatalog
            }
            return map
        }
    }
}
