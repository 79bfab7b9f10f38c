//! Least squares: small dense systems, by Householder's reflections and Cholesky's factors.

/// A matrix by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: Vec<Vec<f64>>,
    columns: usize,
}

impl Matrix {
    /// Without rows, of so many columns.
    pub const fn new(columns: usize) -> Self {
        Self { rows: Vec::new(), columns }
    }

    /// Adds a row; what is missing of it is zero.
    pub fn push(&mut self, mut row: Vec<f64>) {
        row.resize(self.columns, 0.0);
        self.rows.push(row);
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// The number of columns.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The product with a vector.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| dot(row, x)).collect()
    }
}

/// The sum of products.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A column is told from those before it down to this part of its own length.
const DEPENDENT: f64 = 1e-10;

/// The least squares solution over some of the columns, by Householder's reflections (Golub and Van Loan, Matrix
/// Computations, section 5.3.2). None where these columns depend on each other.
pub fn least_squares(matrix: &Matrix, right: &[f64], columns: &[usize]) -> Option<Vec<f64>> {
    let count = columns.len();
    if count > matrix.rows.len() {
        return None;
    }
    let mut left: Vec<Vec<f64>> =
        matrix.rows.iter().map(|row| columns.iter().map(|column| row[*column]).collect()).collect();
    let mut right = right.to_vec();
    let length = |rows: &[Vec<f64>], column: usize| libm::sqrt(rows.iter().map(|row| row[column] * row[column]).sum());
    let lengths: Vec<f64> = (0..count).map(|column| length(&left, column)).collect();
    for place in 0..count {
        let norm = length(&left[place..], place);
        if norm <= DEPENDENT * lengths[place] || norm == 0.0 {
            return None;
        }
        // The reflection that leaves nothing of this column below its diagonal.
        let mut normal: Vec<f64> = left[place..].iter().map(|row| row[place]).collect();
        normal[0] += if normal[0] > 0.0 { norm } else { -norm };
        let square = dot(&normal, &normal);
        for column in place..count {
            let along: f64 = normal.iter().zip(&left[place..]).map(|(part, row)| part * row[column]).sum();
            for (row, part) in left[place..].iter_mut().zip(&normal) {
                row[column] -= 2.0 * along / square * part;
            }
        }
        let along = dot(&normal, &right[place..]);
        for (value, part) in right[place..].iter_mut().zip(&normal) {
            *value -= 2.0 * along / square * part;
        }
    }
    let mut solved = vec![0.0; count];
    for place in (0..count).rev() {
        let known: f64 = (place + 1..count).map(|column| left[place][column] * solved[column]).sum();
        solved[place] = (right[place] - known) / left[place][place];
    }
    Some(solved)
}

/// The lower factor of a positive definite matrix, by Cholesky; none of one that is not.
pub fn cholesky(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut lower = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest = matrix[i][j] - known;
            if i == j {
                if rest <= 0.0 {
                    return None;
                }
                lower[i][i] = libm::sqrt(rest);
            } else {
                lower[i][j] = rest / lower[j][j];
            }
        }
    }
    Some(lower)
}

/// x' M^-1 x for the matrix with this lower factor.
pub fn leverage(lower: &[Vec<f64>], x: &[f64]) -> f64 {
    let mut solved = vec![0.0; x.len()];
    for i in 0..x.len() {
        let known: f64 = (0..i).map(|k| lower[i][k] * solved[k]).sum();
        solved[i] = (x[i] - known) / lower[i][i];
    }
    dot(&solved, &solved)
}
