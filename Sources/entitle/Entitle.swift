@main
struct Entitle {
    static func main() {}
}
