package import EntitlementLedger

extension OpenLedger {
    /// Runs a body over it and closes it.
    ///
    /// `warn`: told where views were not written.
    ///
    /// - Throws: what the body throws.
    package func lend<Result>(
        warn: (String) -> Void,
        _ body: (OpenLedger) throws -> Result
    ) throws -> Result {
        let result: Result
        do {
            result = try body(self)
        } catch {
            close(after: error)
            throw error
        }
        end(warn: warn)
        return result
    }

    /// Closes it; warns where views were not written.
    package func end(warn: (String) -> Void) {
        do {
            try close()
        } catch {
            // What was recorded stands (E3): views are remade from it at any time.
            warn("the views could not be written; `entitle rebuild` makes them anew")
        }
    }
}

extension Ledger {
    /// Lends a ledger whose master key is not at hand, to be read.
    ///
    /// - Throws: as `openWithoutKey`; what the body throws.
    package static func withoutKey<Result>(
        at path: String,
        mapSize: Int,
        _ body: (Ledger) throws -> Result
    ) throws -> Result {
        let ledger = try openWithoutKey(at: path, mapSize: mapSize)
        let result: Result
        do {
            result = try body(ledger)
        } catch {
            // The first fault is the one that is told.
            try? ledger.close()
            throw error
        }
        try ledger.close()
        return result
    }
}
