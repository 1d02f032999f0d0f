/// What a command's help ends with.
enum HelpText {
    /// The two times of a question.
    static let times = """
        T (--at) is the effective time: when something holds. R (--known) is the recorded time: \
        what had been recorded by then is what was known.
        """

    /// Of a command that opens no ledger.
    static let noLedger =
        "It opens none of your ledgers: --ledger and --environment are taken, as by every command, "
        + "and have no effect."

    /// What there is to know of a command, and how it is typed.
    ///
    /// `examples`: command lines, without the prompt.
    static func discussion(_ text: String..., examples: String...) -> String {
        let lines = examples.map { "  $ " + $0 }
        return (text + [(["EXAMPLES:"] + lines).joined(separator: "\n")])
            .joined(separator: "\n\n")
    }
}
