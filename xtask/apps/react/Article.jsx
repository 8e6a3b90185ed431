export default function Article() {
  return (
    <article>
      <h2>On the tides</h2>
      <p>The article of the React application arrives in a chunk of its own, after the shell is drawn.</p>
      <table>
        <thead><tr><th>Harbour</th><th>High water</th></tr></thead>
        <tbody><tr><td>Whitby</td><td>5.6 m</td></tr><tr><td>Brest</td><td>7.1 m</td></tr></tbody>
      </table>
    </article>
  );
}
