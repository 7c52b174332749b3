import networkx


class Graph(networkx.DiGraph):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.nodes  # as soon as it is there


graph = Graph()
graph.add_nodes_from("abc")
assert list(graph.subgraph("a").nodes) == ["a"], list(graph.subgraph("a").nodes)
