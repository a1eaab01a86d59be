import {memo} from './memo';

/** A call stack, outermost frame first; the first frame of the user's own code stands out. */
export const Stack = memo(function Stack({frames, user}: {frames: string[]; user: string | null | undefined}) {
  return (
    <ol class="stack">
      {frames.map((frame, at) => <li key={at} class={frame === user ? 'user' : undefined}>{frame}</li>)}
    </ol>
  );
});
