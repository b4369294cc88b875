// SPDX-License-Identifier: Apache-2.0
// A model for dotnet-ef to work on.
using Microsoft.EntityFrameworkCore;

using var shop = new ShopContext();
Console.WriteLine(shop.Model.GetEntityTypes().Count());

class Customer { public int Id { get; set; } public string Name { get; set; } = ""; public List<Order> Orders { get; } = []; }
class Order { public int Id { get; set; } public DateTime Placed { get; set; } public Customer Customer { get; set; } = null!; public List<Line> Lines { get; } = []; }
class Line { public int Id { get; set; } public int Quantity { get; set; } public decimal Price { get; set; } public Order Order { get; set; } = null!; }

class ShopContext : DbContext
{
    public DbSet<Customer> Customers => Set<Customer>();
    public DbSet<Order> Orders => Set<Order>();
    protected override void OnConfiguring(DbContextOptionsBuilder options) => options.UseSqlite("Data Source=shop.db");
    protected override void OnModelCreating(ModelBuilder model) => model.Entity<Customer>().HasIndex(c => c.Name);
}
