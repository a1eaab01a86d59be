// Skips a view whose properties are the ones of last time: the pointer's every move changes the state, but few views.
import type {ComponentChildren, FunctionComponent} from 'preact';
import {Component, h} from 'preact';

export function memo<P extends object>(View: FunctionComponent<P>): new (props: P) => Component<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return !same(this.props as P, next);
    }

    override render(): ComponentChildren {
      return h(View, this.props as P);
    }
  };
}

function same<P extends object>(a: P, b: P): boolean {
  const keys = Object.keys(b) as (keyof P)[];
  return keys.length === Object.keys(a).length && keys.every(key => a[key] === b[key]);
}
