/// Names that somebody may have meant who wrote another one.
public enum NearNames {
    /// Most names that are offered.
    private static let countLimit = 3
    /// Longer names are compared by their first letters.
    private static let lengthLimit = 64

    /// The known names nearest to a written one, nearest first: those that begin with it, and
    /// those that differ in at most a third of their letters.
    ///
    /// Cost: the product of the lengths for each name.
    public static func near(_ written: String, among known: some Sequence<String>) -> [String] {
        let letters = Array(written.lowercased().prefix(lengthLimit))
        return
            known.map { name in
                (name, distance(letters, Array(name.lowercased().prefix(lengthLimit))))
            }
            .filter { name, distance in
                distance <= max(1, max(letters.count, name.count) / 3)
                    || !letters.isEmpty && name.lowercased().starts(with: letters)
            }
            .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
            .prefix(countLimit).map(\.0)
    }

    /// Levenshtein's distance: letters put in, taken out or replaced.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (place, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = place + 1
            for (index, other) in right.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[index + 1]
                row[index + 1] = min(replaced, row[index] + 1, row[index + 1] + 1)
            }
        }
        return row[right.count]
    }
}
