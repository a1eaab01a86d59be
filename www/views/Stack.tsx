import {useLayoutEffect, useRef} from 'preact/hooks';
import {clipSentence} from '../format';
import {memo} from './memo';

interface Props {
  frames: string[];
  user: string | null | undefined;
  /** In a box of its own scroll, with the user's frame in sight. */
  boxed?: boolean;
}

/** The line into the middle of its box, and a whole line at the box's top: half a line reads as if something covered it. */
function toLine(box: HTMLElement, line: HTMLElement): void {
  box.style.paddingBlockEnd = '';
  const lines = [...box.children] as HTMLElement[];
  const top = lines.find(each => each.offsetTop >= line.offsetTop - box.clientHeight / 2)?.offsetTop ?? 0;
  const most = box.scrollHeight - box.clientHeight;
  if (most > 0 && top > most) box.style.paddingBlockEnd = `${top - most}px`;
  box.scrollTop = top;
}

/** A call stack, outermost frame first; the first frame of the user's own code stands out. */
export const Stack = memo(function Stack({frames, user, boxed = false}: Props) {
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    const box = list.current;
    const line = box?.querySelector<HTMLElement>('.user');
    if (boxed && box !== null && line) toLine(box, line);
  }, [frames]);
  return (
    <ol class={boxed ? 'stack boxed' : 'stack'} ref={list} tabIndex={boxed ? 0 : undefined}>
      {frames.map((frame, at) => <li key={at} class={frame === user ? 'user' : undefined}>{clipSentence(frame)}</li>)}
    </ol>
  );
});
