/** An operator's name; its namespace is what a narrow screen leaves out. */
export function OperatorName({name}: {name: string}) {
  const cut = name.indexOf('::');
  if (cut < 0) return <>{name}</>;
  return <><span class="namespace">{name.slice(0, cut + 2)}</span>{name.slice(cut + 2)}</>;
}
