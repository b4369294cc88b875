module Shop.Trees

type Tree<'a> =
    | Leaf
    | Node of left: Tree<'a> * value: 'a * right: Tree<'a>

let rec insert compare value tree =
    match tree with
    | Leaf -> Node(Leaf, value, Leaf)
    | Node(left, v, right) when compare value v < 0 ->
        Node(insert compare value left, v, right)
    | Node(left, v, right) -> Node(left, v, insert compare value right)

let counter () =
    let mutable count = ref 0
    fun step -> count.Value <- count.Value + step; count.Value

let loadAsync (size: int) =
    async {
        let before = Array.zeroCreate<byte> size
        do! Async.Sleep 1
        return Array.append before before
    }

let evens n = seq { for i in 0 .. n do if i % 2 = 0 then yield string i }

// A closure of its own type parameters, whose class has no arity in its name.
let pairs (f: 'a -> 'b) = fun (items: 'a list) -> List.map (fun item -> item, f item) items
