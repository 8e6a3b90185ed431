const other = await context.newPage();
await other.close();
await other.title();
1
