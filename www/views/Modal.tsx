import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useRef} from 'preact/hooks';

interface ModalProps {
  kind: string;
  label: string;
  close: () => void;
  /** A click beside it closes it, too: nothing is asked in it. */
  light?: boolean;
  children: ComponentChildren;
}

/** A dialog over the page. It takes the focus, Escape closes it, and the focus goes back to where it was. */
export function Modal({kind, label, close, light = false, children}: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const box = dialog.current;
    box?.showModal();
    // Merely taken away, it would keep the focus from going back.
    return () => box?.close();
  }, []);
  return (
    <dialog ref={dialog} class={`modal ${kind}`} data-test={kind} aria-label={label} onCancel={close} onClick={event => light && event.target === dialog.current && close()}>
      {children}
    </dialog>
  );
}
