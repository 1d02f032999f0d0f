import Encodings

extension CatalogHistory {
    /// P12's L by the catalog in force at an instant, in milliseconds.
    func leewayMilliseconds(at instant: Instant) -> Int64 {
        catalog(at: instant).map { $0.policy.renewalLeewaySeconds * 1000 } ?? 0
    }

    /// These catalogs with another one from an instant on, in place of every catalog that was
    /// published for then or later.
    package func replaced(from effective: Instant, by catalog: Catalog) -> CatalogHistory {
        CatalogHistory(
            publications.filter { $0.time < effective } + [
                Publication(time: effective, sequence: .max, catalog: catalog)
            ]
        )
    }
}

extension CustomerTimeline {
    /// The same facts under other catalogs (row Z3): what the fold would have made of them.
    ///
    /// Folds again only what a catalog takes part in: trials (C4), purchases whose leeway it moves
    /// (P12), and the stretches of both.
    ///
    /// `position`: K8's x for an experiment's id of the other catalogs and this customer's name.
    package func under(
        _ catalogs: CatalogHistory,
        position: (_ experiment: String) -> UInt64
    ) -> CustomerTimeline {
        CustomerTimeline(self, under: catalogs, seen: catalogs.seen(position: position))
    }

    private init(
        _ timeline: CustomerTimeline,
        under catalogs: CatalogHistory,
        seen: CatalogHistory
    ) {
        customer = timeline.customer
        grants = timeline.grants
        uses = timeline.uses
        self.catalogs = seen
        // A leeway is asked for at the end of a period, and nowhere else.
        let isMoved = timeline.purchases.map { purchase in
            purchase.timeline.periods.contains { period in
                period.end.map {
                    timeline.catalogs.leewayMilliseconds(at: $0)
                        != catalogs.leewayMilliseconds(at: $0)
                } ?? false
            }
        }
        guard isMoved.contains(true) || !timeline.trials.isEmpty else {
            (purchases, trials) = (timeline.purchases, timeline.trials)
            stretches = timeline.stretches
            return
        }
        purchases = zip(timeline.purchases, isMoved).map { purchase, isMoved in
            guard isMoved else { return purchase }
            return OwnedPurchase(
                timeline: purchase.timeline.folded(
                    leewayMilliseconds: catalogs.leewayMilliseconds
                ),
                ownership: purchase.ownership
            )
        }
        trials = timeline.trials.map { Trial(id: $0.id, start: $0.interval.start, seen) }
        stretches = Self.stretches(purchases, grants, trials)
    }
}

extension CustomerTimeline.Trial {
    /// C4: what the catalog in force at its start makes of a trial.
    init(id: String, start: Instant, _ catalogs: CatalogHistory) {
        let sold = catalogs.catalog(at: start)?.trials.first { $0.id.isSame(as: id) }
        let length = (sold?.days ?? 0) * Instant.millisecondsPerDay
        self.id = id
        interval = Interval(start: start, end: start.advanced(byMilliseconds: length))
        features = sold?.features ?? []
        tier = sold?.tier
    }
}
