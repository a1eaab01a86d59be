import {useLayoutEffect, useRef} from 'preact/hooks';
import {clipSentence} from '../format';
import {memo} from './memo';

interface Props {
  frames: string[];
  user: string | null | undefined;
  /** In a box of its own scroll, with the user's frame in sight. */
  boxed?: boolean;
}

/** A call stack, outermost frame first; the first frame of the user's own code stands out. */
export const Stack = memo(function Stack({frames, user, boxed = false}: Props) {
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    const box = list.current;
    const line = box?.querySelector<HTMLElement>('.user');
    if (boxed && box !== null && line) box.scrollTop = line.offsetTop - box.clientHeight / 2;
  }, [frames]);
  return (
    <ol class={boxed ? 'stack boxed' : 'stack'} ref={list} tabIndex={boxed ? 0 : undefined}>
      {frames.map((frame, at) => <li key={at} class={frame === user ? 'user' : undefined}>{clipSentence(frame)}</li>)}
    </ol>
  );
});
