// The list is fetched from the server, the article is a lazy chunk, and a click on the button loads the comments.
import { lazy, StrictMode, Suspense, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const Article = lazy(() => import('./Article.jsx'));

function App() {
  const [notes, setNotes] = useState(null);
  const [comments, setComments] = useState(null);
  const load = (name, set) => fetch(`./${name}.json`).then((response) => response.json()).then(set);
  useEffect(() => { load('notes', setNotes); }, []);
  return (
    <main>
      <h1>Field notes, written with React</h1>
      <Suspense fallback={<p>Loading the article…</p>}><Article /></Suspense>
      <h2>All notes</h2>
      {notes === null ? <p>Loading the notes…</p> : (
        <ul>{notes.map((note) => <li key={note.id}><a href={`#/notes/${note.id}`}>{note.title}</a>: {note.text}</li>)}</ul>
      )}
      <button id="more" onClick={() => load('comments', setComments)}>Show comments</button>
      {comments && <section id="comments">{comments.map((text) => <p key={text}>{text}</p>)}</section>}
    </main>
  );
}

createRoot(document.getElementById('app')).render(<StrictMode><App /></StrictMode>);
