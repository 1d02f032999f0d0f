package import LedgerAPI

extension ConfigurationAnswer {
    /// The settings for people: each with where it comes from; no secret.
    package var textLines: [String] {
        ["configuration file: \(file ?? "none")"]
            + TextTable.lines(
                "settings",
                settings.map { setting in
                    let value = setting.value ?? (setting.origin == .default ? "" : "(not shown)")
                    let origin =
                        setting.origin == .variable ? setting.variable : setting.origin.rawValue
                    return [setting.name, origin, value]
                }
            )
    }
}
