/** The text of a stylesheet. */
declare module '*.css?inline' {
  const styles: string
  export default styles
}
