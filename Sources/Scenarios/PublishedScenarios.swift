package import Entitlements

/// The scenarios of `schemas/scenarios`, so that a program that is one file has them.
package enum PublishedScenarios {
    /// All of them, in the order of their ids.
    ///
    /// - Throws: nothing, as tests see to.
    package static func all() throws(InputFault) -> [Scenario] {
        var scenarios: [Scenario] = []
        for text in texts { scenarios.append(try Scenario(parsing: Array(text.utf8))) }
        return scenarios
    }
}
