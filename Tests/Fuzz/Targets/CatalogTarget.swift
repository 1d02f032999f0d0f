import Encodings
import Entitlements
import ModelSupport

/// A catalog document, as it is published, and what is asked of an accepted one.
struct CatalogTarget: MutatingFuzzTarget {
    private let documents: [JSONValue]
    let mutation: JSONMutation

    /// Histories to take the samples from.
    private static let histories: Range<UInt64> = 1..<40
    /// When limits are asked about.
    private static let instants = [
        Instant.earliest, Instant(milliseconds: 1_767_225_600_000),
        Instant.latest.advanced(byMilliseconds: -1),
    ]

    init() {
        documents = Self.histories.flatMap { RandomHistory(seed: $0).log }
            .compactMap(\.event.data.document)
        mutation = JSONMutation(
            wordsOf: documents,
            and: .members([
                "policy": .members(["claim": .strings(["keep", "transfer"])]),
                "offerings": .array([]), "products": .array([]), "feature": "f1",
                "all": .bool(true), "app_store": .array([]), "transitions": .array([.integer(0)]),
            ])
        )
    }

    func seeds() -> [[UInt8]] { documents.map { Array($0.description.utf8) } }

    func run(_ input: [UInt8]) {
        guard let json = try? JSONValue(parsing: input) else { return }
        _ = Catalog.zoneNames(in: json)
        let catalog: Catalog
        do throws(InputFault) {
            catalog = try Catalog(document: json)
        } catch {
            demand(!error.all.isEmpty, "a refusal has its reasons")
            return
        }
        // Both ends and the middle of where a customer may stand in an experiment.
        for position in [0, UInt64.max / 2, .max] { ask(catalog.seen { _ in position }) }
        for product in catalog.products {
            for index in catalog.unlocked(by: product.unlocks) {
                demand(catalog.features.indices.contains(index), "what is unlocked is listed")
            }
        }
        PlantedFault.strike(
            catalog.policy.claim == .transfer
                && catalog.policy.renewalLeewaySeconds == 0
        )
    }

    private func ask(_ catalog: Catalog) {
        demand(catalog.tiers.first == Catalog.freeTier, "there is a free tier")
        for feature in catalog.features {
            demand(catalog.tiers.indices.contains(feature.level), "a level is a tier")
            for limit in feature.limits.values.compactMap(\.perPeriod) {
                let zone = catalog.zones[limit.timeZone] ?? .utc
                for instant in Self.instants {
                    let window = limit.period.window(containing: instant, in: zone)
                    demand(window.contains(instant), "an instant lies in its window")
                }
            }
        }
    }
}
