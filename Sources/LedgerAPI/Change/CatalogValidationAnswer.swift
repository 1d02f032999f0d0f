/// What is wrong with a catalog, and what is doubtful: `catalog validate`.
package struct CatalogValidationAnswer: Described {
    /// What is wrong (K10): a catalog with a fault is not published.
    package var faults: [CatalogFaultAnswer]
    /// What is doubtful, such as a misspelt member.
    package var warnings: [CatalogFaultAnswer]

    /// Makes an answer.
    package init(faults: [CatalogFaultAnswer], warnings: [CatalogFaultAnswer]) {
        self.faults = faults
        self.warnings = warnings
    }

    /// Whether it may be published.
    package var isOK: Bool { faults.isEmpty }

    /// Its members, in the order in which they are written; `ok` follows from the faults.
    package static let fields = Fields(
        "CatalogValidation",
        "What is wrong with a catalog",
        { _, faults, warnings in Self(faults: faults, warnings: warnings) }
    ) {
        Field("ok", \.isOK, .boolean)
        Field("faults", \.faults, .list(.object))
        Field("warnings", \.warnings, .list(.object))
    }
}
