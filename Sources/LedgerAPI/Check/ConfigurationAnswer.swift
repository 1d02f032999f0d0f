/// What a command goes by where no flag says otherwise: `config show`.
package struct ConfigurationAnswer: Described {
    /// The configuration file; nil: there is none.
    package var file: String?
    /// Every setting, by name.
    package var settings: [Setting]

    /// Lists settings.
    package init(file: String?, settings: [Setting]) {
        self.file = file
        self.settings = settings
    }

    /// One setting.
    package struct Setting: Described {
        /// Its name in the file.
        package var name: String
        /// The variable that sets it, too.
        package var variable: String
        /// What it is; nil: its default, or a secret that is not shown.
        package var value: String?
        /// Where the value comes from.
        package var origin: Origin

        /// Makes one.
        package init(name: String, variable: String, value: String?, origin: Origin) {
            self.name = name
            self.variable = variable
            self.value = value
            self.origin = origin
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("Setting", "A setting", Self.init) {
            Field("name", \.name, .text, "Its name in the configuration file")
            Field("variable", \.variable, .text)
            Field(
                "value",
                \.value,
                .orNull(.text),
                "null: the default, or a secret, which is not shown"
            )
            Field("origin", \.origin, .word)
        }
    }

    /// Where a value comes from; the first that has one counts.
    package enum Origin: String, Sendable, CaseIterable {
        case flag, variable, file, `default`
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Configuration", "What commands go by", Self.init) {
        Field("file", \.file, .orNull(.text))
        Field("settings", \.settings, .list(.object))
    }
}
