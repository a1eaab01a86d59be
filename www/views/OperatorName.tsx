import {Fragment} from 'preact';
import {clip} from '../format';
import {useMessages} from '../i18n';

/** An operator's name, which breaks where its words end; its namespace is what a narrow screen leaves out. */
export function OperatorName({name: whole}: {name: string}) {
  // An allocator of JAX has owners instead.
  const name = clip(useMessages().ownerName(whole));
  const cut = name.indexOf('::');
  const start = cut < 0 ? 0 : cut + 2;
  return (
    <>
      {start > 0 && <span class="namespace">{name.slice(0, start)}<wbr /></span>}
      {name.slice(start).split(/(?<=_)(?=[^_])/).map((word, index) => <Fragment key={index}>{index > 0 && <wbr />}{word}</Fragment>)}
    </>
  );
}
