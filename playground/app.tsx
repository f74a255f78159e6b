/** The whole page. */
export function App() {
  return (
    <main>
      <h1>Wardspace playground</h1>
    </main>
  )
}
