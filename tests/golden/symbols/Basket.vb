Imports System.Collections.Generic

Namespace Shop
    Public Class Basket(Of T)
        Private ReadOnly _items As New List(Of T)

        Public Structure Line(Of TPrice)
            Public Item As T
            Public Price As TPrice
        End Structure

        Public Iterator Function Items() As IEnumerable(Of T)
            For Each item In _items
                Yield item
            Next
        End Function

        Public Async Function CountAsync() As Threading.Tasks.Task(Of Integer)
            Await Threading.Tasks.Task.Yield()
            Return _items.Count +
                New List(Of T)(_items).Count
        End Function
    End Class
End Namespace
